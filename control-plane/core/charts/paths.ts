/** A place in a drawing; y grows downwards. */
interface Place {
  readonly x: number;
  readonly y: number;
}

/** Places of a line, in runs: nothing is drawn from the end of a run to the next one. */
export type Runs = readonly (readonly Place[])[];

/** Returns the path of a line (SVG 2, section 9.3). A run of one place is a dot, if lines have round ends. */
export function linePath(runs: Runs): string {
  return runs.map((run) => (run.length === 1 ? `${moves(run)}h0` : moves(run))).join("");
}

/** Returns the path of the area between two lines that have the same runs. */
export function bandPath(upper: Runs, lower: Runs): string {
  return upper.map((run, index) => `${moves([...run, ...(lower[index] ?? []).toReversed()])}z`).join("");
}

/**
 * Writes a run in relative steps, which are shorter. Places are rounded first, to one decimal, so that the errors of
 * steps do not add up.
 */
function moves(run: readonly Place[]): string {
  let [x, y] = [0, 0];
  const steps = run.map((place, index) => {
    const [nextX, nextY] = [Math.round(place.x * 10), Math.round(place.y * 10)];
    const step = `${index === 0 ? "M" : index === 1 ? "l" : ""}${tenths(nextX - x)} ${tenths(nextY - y)}`;
    [x, y] = [nextX, nextY];
    return step;
  });
  // A minus sign, like a letter, ends the number before it.
  return steps.join(" ").replaceAll(/ (?=[-l])/g, "");
}

/** Writes a number of tenths without a leading zero: ".5", "-.5", "12", "0". */
function tenths(value: number): string {
  return String(value / 10).replace(/^(-?)0\./, "$1.");
}
