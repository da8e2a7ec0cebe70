import type { Row } from "#shared/client/apply/document.ts";
import type { Path } from "#shared/json/yaml.ts";
import { nameOf, WEBHOOK_FIELDS } from "#shared/client/apply/webhooks/rows.ts";
import { isRecord } from "#shared/text/is-record.ts";

type Refuse = (path: Path, message: string) => void;

const FILTER_FIELDS: readonly string[] = ["monitors", "tags"];

/** Checks what the service cannot: that the rows of webhooks have names, each its own, and fields of a document. */
export function checkWebhooks(list: unknown, refuse: Refuse): void {
  if (list === undefined) return;
  if (!Array.isArray(list)) return refuse(["webhooks"], "webhooks must be a list");
  const seen = new Set<string>();
  for (const [index, row] of (list as readonly unknown[]).entries()) {
    const at = (path: Path, message: string) =>
      refuse(["webhooks", index, ...path], `${calledAs(index, row)}: ${message}`);
    if (isRecord(row)) checkRow(row, seen, at);
    else at([], "must be an object");
  }
}

function calledAs(index: number, row: unknown): string {
  const name = isRecord(row) ? nameOf(row["name"]) : "";
  return `webhooks.${index}${name === "" ? "" : ` (${name})`}`;
}

function checkRow(row: Row, seen: Set<string>, refuse: Refuse): void {
  const name = nameOf(row["name"]);
  if (name === "") refuse(["name"], "name must be a text: it says which webhook the row is");
  else if (seen.has(name)) refuse(["name"], "name another row of the document has this name");
  seen.add(name);
  checkNames(row, WEBHOOK_FIELDS, [], refuse);
  for (const field of ["headers", "format_options"]) {
    const { [field]: values = {} } = row;
    if (!isRecord(values)) refuse([field], `${field} must be an object of texts`);
  }
  const { filter = null } = row;
  if (filter === null) return;
  if (!isRecord(filter)) return refuse(["filter"], "filter must be an object with monitors and tags, or null");
  checkNames(filter, FILTER_FIELDS, ["filter"], refuse);
  for (const field of FILTER_FIELDS) {
    const { [field]: list = [] } = filter;
    if (!Array.isArray(list) || !list.every((one) => typeof one === "string"))
      refuse(["filter", field], `filter.${field} must be a list of ${field === "tags" ? field : "names of monitors"}`);
  }
}

function checkNames(value: Row, known: readonly string[], path: readonly string[], refuse: Refuse): void {
  for (const name of Object.keys(value)) {
    if (!known.includes(name))
      refuse([...path, name], `${[...path, name].join(".")} no such field; allowed: ${known.join(", ")}`);
  }
}
