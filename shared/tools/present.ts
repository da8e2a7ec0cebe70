import { Compile, type Validator } from "typebox/compile";
import { SEVERITIES, sortFindings, type Finding } from "#shared/contracts/findings.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { existing, fact, oneLine } from "#shared/presentation/build.ts";
import { tellByFields } from "#shared/tools/present-by-fields.ts";
import type { Fact, Presentation } from "#shared/presentation/presentation.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import { verdictOf } from "#shared/presentation/verdict.ts";
import type { Contract } from "#shared/tools/define.ts";
import { presentersByTool } from "#shared/tools/index.ts";

/** Maximum number of findings; the most severe come first. */
const MOST_FINDINGS = 100;
/** Maximum number of characters of what to change: it can be a whole DNS record or several elements of a page. */
const MOST_HOW = 1_000;
/** Maximum number of limitations: what the tool could not find out, and why. */
const MOST_LIMITATIONS = 3;

/**
 * Presents a result of a tool. Data that the contract does not describe, e.g. of an older release, is presented by its
 * fields. The verdict is that of the tool's own file, else follows from the findings, else is neutral. `now` is the
 * time that dates are compared with.
 */
export function present(contract: Contract, data: unknown, now: Date): Presentation {
  const own = presentersByTool.get(contract.name);
  const told = own !== undefined && isValid(contract, data) ? own.tell(data, now) : tellByFields(contract, data);
  const listed = told.findings ?? findingsOf(data);
  const findings = sortFindings(listed ?? []).slice(0, MOST_FINDINGS);
  return {
    verdict: told.verdict ?? (listed === null ? "neutral" : verdictOf(findings)),
    headline: oneLine(told.headline),
    facts: [...(told.facts ?? []), ...limitationsOf(data)],
    tables: told.tables ?? [],
    series: told.series ?? [],
    findings: findings.map((one) => ({
      ...one,
      message: oneLine(one.message),
      how: one.how === null ? null : toPlainLine(one.how, MOST_HOW),
      reference: one.reference === null ? null : oneLine(one.reference),
      where: one.where === null ? null : oneLine(one.where),
    })),
  };
}

function limitationsOf(data: unknown): readonly Fact[] {
  const listed = isRecord(data) ? data["limitations"] : undefined;
  const texts = Array.isArray(listed) ? listed.filter((one) => typeof one === "string") : [];
  return existing(...texts.slice(0, MOST_LIMITATIONS).map((text) => fact("Limitation", text)));
}

const VALIDATORS = new WeakMap<Contract, Validator>();

function isValid(contract: Contract, data: unknown): boolean {
  const validator = VALIDATORS.get(contract) ?? Compile(contract.result);
  VALIDATORS.set(contract, validator);
  return validator.Check(data);
}

/** Returns the findings of any result; null if its tool has none. */
function findingsOf(data: unknown): readonly Finding[] | null {
  const listed = isRecord(data) ? data["findings"] : undefined;
  if (!Array.isArray(listed)) return null;
  return listed.flatMap((one: unknown): readonly Finding[] => {
    if (!isRecord(one) || typeof one["message"] !== "string") return [];
    const severity = SEVERITIES.find((name) => name === one["severity"]) ?? "info";
    return [
      {
        id: textOf(one["id"]) ?? "finding",
        severity,
        message: one["message"],
        how: textOf(one["how"]),
        reference: textOf(one["reference"]),
        where: textOf(one["where"]),
      },
    ];
  });
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
