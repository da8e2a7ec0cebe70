import type { Finding, Severity } from "#shared/findings.ts";
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

/** Returns the verdict of a letter grade: A and B are good, C to E a warning, F and worse are bad. */
export function verdictOfGrade(grade: string): Verdict {
  if (grade.startsWith("A") || grade === "B") return "good";
  return ["C", "D", "E"].includes(grade) ? "warning" : "bad";
}
