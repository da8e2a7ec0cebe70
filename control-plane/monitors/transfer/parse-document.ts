import { parseParams } from "#shared/schema.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { parseJsonObject, type JsonObject } from "#control-plane/http/json.ts";
import { OUTLINE } from "#control-plane/monitors/transfer/document.ts";
import { writeRows, type WrittenRows } from "#control-plane/monitors/transfer/rows.ts";

/** What a body is: a document, no document of the form, or no JSON object. */
export type ParsedDocument =
  | { readonly kind: "document"; readonly names: readonly string[]; readonly rows: WrittenRows }
  | { readonly kind: "problem"; readonly problem: FieldProblem }
  | { readonly kind: "unreadable"; readonly why: Extract<JsonObject, { readonly ok: false }> };

/** Parses a document to import. `names` are those of its fields. */
export function parseDocument(bytes: Uint8Array): ParsedDocument {
  const json = parseJsonObject(bytes);
  if (!json.ok) return { kind: "unreadable", why: json };
  const outline = parseParams(OUTLINE, json.value, { from: "json", unknown: "refuse" });
  if (!outline.ok) return { kind: "problem", problem: outline.problem };
  return { kind: "document", names: Object.keys(json.value), rows: writeRows(outline.value.monitors) };
}
