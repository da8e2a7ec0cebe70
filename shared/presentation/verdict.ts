import type { Finding, Severity } from "#shared/contracts/findings.ts";
import { VERDICTS, type Verdict } from "#shared/presentation/presentation.ts";

const BY_SEVERITY: Readonly<Record<Severity, Verdict>> = { critical: "bad", warning: "warning", info: "good" };

/** Returns the worst of some verdicts; neutral if there are none. */
export function worst(verdicts: readonly Verdict[]): Verdict {
  return VERDICTS.find((verdict) => verdicts.includes(verdict)) ?? "neutral";
}

/** Returns the verdict of findings: bad with a critical one, warning with a warning, else good. */
export function verdictOf(findings: readonly Pick<Finding, "severity">[]): Verdict {
  return worst(["good", ...findings.map(({ severity }) => BY_SEVERITY[severity])]);
}

/** Returns the verdict of a letter grade, with or without a sign: A and B are good, C to E a warning, others are bad. */
export function verdictOfGrade(grade: string): Verdict {
  const letter = grade.charAt(0);
  if (letter === "A" || letter === "B") return "good";
  return ["C", "D", "E"].includes(letter) ? "warning" : "bad";
}

/** Returns the verdict of a grade for good practice with its findings. Bad only by a finding: with an F pages work. */
export function verdictOfPractice(grade: string, findings: readonly Pick<Finding, "severity">[]): Verdict {
  return worst([verdictOf(findings), verdictOfGrade(grade) === "good" ? "good" : "warning"]);
}
