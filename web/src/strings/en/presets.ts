/** The titles of the presets, by name. In English they are those that Python gives (src/gradwalk/presets.py). */
export const presets = {
  titles: {} as Record<string, string>,
};
