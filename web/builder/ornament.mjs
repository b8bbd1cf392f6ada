// The contour lines behind a title, and one walk down them. Python computed both, with the engine's own gradients.

/** `which` chooses the walk, so that every lesson has one of its own. */
export function ornament({width, height, lines, walks}, which) {
  const walk = walks[which % walks.length];
  const dots = walk.map(([x, y], index) => `<circle cx="${x}" cy="${y}" r="${index === 0 ? 8.4 : 5.2}"/>`).join("");
  const path = `M${walk.map(([x, y]) => `${x} ${y}`).join("L")}`;
  return (
    `<svg class="relief" viewBox="0 0 ${width} ${height}" preserveAspectRatio="xMaxYMid slice" aria-hidden="true">` +
    `<path class="iso" d="${lines}"/><g class="steps"><path d="${path}"/>${dots}</g></svg>`
  );
}
