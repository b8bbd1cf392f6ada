// Runs before the first paint, so that a page never flashes in the wrong colours. Small on purpose.
try {
  const chosen = localStorage.getItem("gradwalk:theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // storage is blocked: the system's setting it is
}
