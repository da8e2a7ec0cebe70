/** Letter grade of a score. The scale has no E. */
export type LetterGrade = "A+" | "A" | "B" | "C" | "D" | "F";

const FLOORS: readonly (readonly [number, LetterGrade])[] = [
  [95, "A+"],
  [90, "A"],
  [80, "B"],
  [70, "C"],
  [60, "D"],
];

/** Letter grades, best first. */
export const LETTER_GRADES: readonly LetterGrade[] = ["A+", "A", "B", "C", "D", "F"];

/** Returns the grade of a score from 0 to 100. */
export function letterGrade(score: number): LetterGrade {
  return FLOORS.find(([floor]) => score >= floor)?.[1] ?? "F";
}

/** Returns the worse of two grades. */
export function worseGrade(one: LetterGrade, other: LetterGrade): LetterGrade {
  return LETTER_GRADES.indexOf(one) >= LETTER_GRADES.indexOf(other) ? one : other;
}
