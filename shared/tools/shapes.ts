import { Type, type TOptional, type TProperties, type TSchema } from "typebox";
import { SEVERITIES } from "#shared/contracts/findings.ts";
import { Limitations, Nullable } from "#shared/tools/fields.ts";

/** A string of a result. */
export function text(description: string) {
  return Type.String({ description });
}

/** An integer of a result. */
export function integer(description: string) {
  return Type.Integer({ description });
}

/** A non-negative integer. */
export function count(description: string) {
  return Type.Integer({ minimum: 0, description });
}

/** A number that may have a fraction. */
export function number(description: string) {
  return Type.Number({ description });
}

/** A boolean. */
export function truth(description: string) {
  return Type.Boolean({ description });
}

/** One of a closed set of words. */
export function word<const W extends string>(words: readonly W[], description: string) {
  return Type.Unsafe<W>({ type: "string", enum: words, description });
}

/** A list; the description gives its order. */
export function list<T extends TSchema>(items: T, description: string) {
  return Type.Array(items, { description });
}

/** A list of strings. */
export function texts(description: string) {
  return Type.Array(Type.String(), { description });
}

/** IP version of an address: 4 or 6. */
export function ipVersion() {
  return Type.Unsafe<4 | 6>({ type: "integer", enum: [4, 6], description: "IP version: 4 or 6" });
}

/** An object with its own description. */
export function record<P extends TProperties>(properties: P, description: string) {
  return Type.Object(properties, { description });
}

/** A field that only some results have. */
export function optional<T extends TSchema>(schema: T): TOptional<T> {
  return Type.Optional(schema) as TOptional<T>;
}

/** A score from 0 to 100. */
export function points(description: string) {
  return Type.Integer({ minimum: 0, maximum: 100, description });
}

/** The scale of health, csp, cookie, seo-audit, ai-check and email-check, which has no E. */
export function letterGrade(description: string) {
  return word(["A+", "A", "B", "C", "D", "F"], description);
}

const FindingShape = record(
  {
    id: text("Stable name of the kind of finding, kebab-case"),
    severity: word(
      SEVERITIES,
      "critical: visitors or mail do not arrive, or an attacker gets in; warning: that will happen, or it costs much; info: good to know",
    ),
    message: text("What was found"),
    how: Nullable(text("What to change; null if there is nothing to do")),
    reference: Nullable(text("URL of the specification or guide; null if there is none")),
    where: Nullable(text("The part of the result that the finding is about; null for the whole result")),
  },
  "One finding",
);

/** The findings of a tool, most severe first, in the form of shared/contracts/findings.ts. */
export function findings(
  description = "What is wrong or worth knowing, most severe first; empty if nothing was found",
) {
  return list(FindingShape, description);
}

/** The first fields of every result about one page. */
export const PAGE_FIELDS = {
  url: text("URL as requested"),
  final_url: text("URL of the checked page, after redirects"),
  code: Type.Integer({ description: "HTTP status of that page" }),
};

/** Duration of the whole check; every result has it (probe-agent/tools/implement.ts fills it in). */
export function elapsed(description = "Duration of the whole check, ms, rounded") {
  return Type.Integer({ minimum: 0, description });
}

/** The last fields of every result. */
export const OBSERVED_FIELDS = {
  source: texts("Sources of the result, e.g. page, dns, or the name of an outside service"),
  observed_at: text("When the check began, ISO 8601 UTC"),
  elapsed_ms: elapsed(),
  limitations: Limitations(),
};
