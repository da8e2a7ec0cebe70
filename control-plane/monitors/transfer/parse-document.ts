import type { Static } from "typebox";
import { parseParams } from "#shared/schema/schema.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { parseJsonObject, type JsonObject } from "#control-plane/http/json.ts";
import { OUTLINE } from "#control-plane/monitors/transfer/document.ts";
import {
  partFrom,
  rowsFrom,
  rowsOf,
  writePart,
  writeRows,
  type ImportedDocument,
  type WrittenDocument,
} from "#control-plane/monitors/transfer/rows.ts";

/** What a body is: a document, no document of the form, or no JSON object. */
export type ParsedDocument =
  | { readonly kind: "document"; readonly written: WrittenDocument }
  | { readonly kind: "problem"; readonly problem: FieldProblem }
  | { readonly kind: "unreadable"; readonly why: Extract<JsonObject, { readonly ok: false }> };

type Outline = Static<typeof OUTLINE>;

/** Parses a document to import, for another thread. */
export function parseDocument(bytes: Uint8Array): ParsedDocument {
  const json = parseJsonObject(bytes);
  if (!json.ok) return { kind: "unreadable", why: json };
  const outline = parseParams(OUTLINE, json.value, { from: "json", unknown: "refuse" });
  if (!outline.ok) return { kind: "problem", problem: outline.problem };
  const { version, monitors, status_pages, maintenance } = outline.value;
  const problem = outlineProblem(outline.value);
  if (problem !== null) return { kind: "problem", problem };
  const parts = { status_pages: writePart(status_pages), maintenance: writePart(maintenance) };
  const written = { version, count: monitors.length, monitors: writeRows(monitors), parts };
  return { kind: "document", written };
}

/** Returns what version 1 has not; null if a document has the form of its version. */
export function outlineProblem({ version, monitors, status_pages, maintenance }: Outline): FieldProblem | null {
  if (version > 1) return null;
  if (monitors.length === 0) return { field: "monitors", reason: "range", message: "must have at least 1 item" };
  const extra = status_pages === undefined ? (maintenance === undefined ? null : "maintenance") : "status_pages";
  return extra === null ? null : { field: extra, reason: "unknown", message: "is only in version 2" };
}

/** Returns a document that was parsed as a whole. */
export function documentOf({ version, monitors, status_pages, maintenance }: Outline): ImportedDocument {
  const parts = { status_pages: status_pages ?? [], maintenance: maintenance ?? [] };
  return { version, monitors: rowsOf(monitors), parts };
}

/** Returns a document that another thread has parsed. */
export function documentFrom(written: WrittenDocument): ImportedDocument {
  const { status_pages, maintenance } = written.parts;
  const parts = { status_pages: partFrom(status_pages), maintenance: partFrom(maintenance) };
  return { version: written.version, monitors: rowsFrom(written), parts };
}
