/** What Python says, by its English words. In English these are said as they are; see src/gradwalk/messages.py. */
export const messages: Record<string, string> = {};
