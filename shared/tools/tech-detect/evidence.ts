import type { Static } from "typebox";
import type { EvidenceType, TechEvidence } from "#shared/tools/tech-detect/contract.ts";

/** Kinds of evidence in words. */
const TYPES: Readonly<Record<EvidenceType, string>> = {
  url: "address",
  header: "header",
  cookie: "cookie",
  meta: "meta element",
  html: "HTML",
  text: "text",
  css: "style",
  script_src: "script",
  script: "script text",
  dom: "element",
  robots: "robots.txt",
  dns: "DNS",
  certificate_issuer: "certificate",
  xhr: "request",
  path: "file",
  implied: "needed by",
};

/** Evidence that a person finds again most easily first: what the server or the page says itself. */
const CLEAREST: readonly EvidenceType[] = ["meta", "header", "cookie", "script_src", "path", "dns"];

/** Describes the clearest piece of evidence of a technology; null if there is none. */
export function describeEvidence(evidence: readonly Static<typeof TechEvidence>[]): string | null {
  const found = CLEAREST.flatMap((type) => evidence.find((one) => one.type === type) ?? [])[0] ?? evidence[0];
  return found === undefined ? null : `${TYPES[found.type]}: ${found.match}`;
}

/** Writes the name of a technology with its version, if it is known. */
export function withVersion({ name, version }: { readonly name: string; readonly version: string | null }): string {
  return version === null ? name : `${name} ${version}`;
}
