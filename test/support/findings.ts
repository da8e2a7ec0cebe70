import { expect } from "vitest";
import { SEVERITIES, type Finding } from "#shared/contracts/findings.ts";

/** Asserts the form of findings: kebab-case ids, whole sentences, useful advice, most severe first. */
export function expectWellFormed(findings: readonly Finding[]): void {
  for (const finding of findings) {
    expect(finding.id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
    expect(finding.message, finding.id).toMatch(/^[A-Z'"<_a-z0-9].*[.…]$/s);
    expect(`${finding.message} ${finding.how ?? ""}`, finding.id).not.toMatch(/undefined|NaN|\[object/);
    if (finding.how !== null) expect(finding.how.length, finding.id).toBeGreaterThan(10);
    if (finding.reference !== null) expect(finding.reference, finding.id).toMatch(/^https:\/\//);
  }
  const ranks = findings.map(({ severity }) => SEVERITIES.indexOf(severity));
  expect(ranks).toEqual(ranks.toSorted((one, other) => one - other));
}

/** Returns `severity id` of each finding without duplicates, in the order of the list. */
export function kinds(findings: readonly Finding[]): string[] {
  return [...new Set(findings.map(({ severity, id }) => `${severity} ${id}`))];
}

/** Joins the messages of findings, one for each line. */
export function messagesOf(list: readonly { readonly message: string }[]): string {
  return list.map(({ message }) => message).join("\n");
}

/** Returns the ids of findings, in order. */
export function idsOf(list: readonly { readonly id: string }[]): string[] {
  return list.map(({ id }) => id);
}
