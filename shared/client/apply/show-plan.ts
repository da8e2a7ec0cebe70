import type { RowList } from "#shared/client/apply/document.ts";
import type { PropertyChange } from "#shared/client/apply/plan.ts";
import type { UsedSource } from "#shared/client/apply/read-document.ts";
import { cell } from "#shared/client/table.ts";

const KINDS: Readonly<Record<RowList, string>> = {
  monitors: "monitor",
  status_pages: "status page",
  maintenance: "maintenance",
  webhooks: "webhook",
};

/** A row of a plan. */
interface ShownRow {
  readonly list: RowList;
  /** What the row is called. */
  readonly title: string;
}

/** The rows of all lists with what happens to them. */
export interface ShownPlan {
  readonly created: readonly ShownRow[];
  readonly changed: readonly (ShownRow & { readonly changes: readonly PropertyChange[] })[];
  readonly unchanged: readonly ShownRow[];
  readonly deleted: readonly ShownRow[];
}

/** Reports whether an apply would write nothing. */
export function isEmpty({ created, changed, deleted }: ShownPlan): boolean {
  return created.length + changed.length + deleted.length === 0;
}

/** Maximum length of a value, in characters. */
const LONGEST_VALUE = 120;

/** Formats a plan, one line for each row and property. No secret is in it. */
export function showPlan({ created, changed, deleted }: ShownPlan): string {
  return [
    ...created.map(({ list, title }) => `+ ${KINDS[list]} ${cell(title)}`),
    ...changed.flatMap(({ list, title, changes }) => [
      `~ ${KINDS[list]} ${cell(title)}`,
      ...(changes.length === 0 ? ["    a value that the service reads otherwise"] : changes.map(showChange)),
    ]),
    ...deleted.map(({ list, title }) => `- ${KINDS[list]} ${cell(title)}`),
  ].join("\n");
}

/** Maximum number of secrets that are named for one variable or file. */
const MOST_USES = 3;

/** Formats the variables and files that a document reads and what has their values, one a line. No value is in it. */
export function showSources(sources: readonly UsedSource[]): readonly string[] {
  return sources.map(({ kind, name, uses }) => {
    const named = uses.slice(0, MOST_USES).map(({ list, title, field }) => `${field} of ${KINDS[list]} ${title}`);
    const others = uses.length - named.length;
    return cell(`< ${kind} ${name}: ${named.join(", ")}${others === 0 ? "" : `, and ${others} more`}`);
  });
}

/** Formats the numbers of a plan. */
export function countPlan({ created, changed, unchanged, deleted }: ShownPlan): string {
  return `${created.length} to create, ${changed.length} to change, ${deleted.length} to delete, ${unchanged.length} unchanged`;
}

function showChange(change: PropertyChange): string {
  if ("secret" in change) return `    ${cell(change.field)}: (secret) ${change.secret}`;
  return `    ${cell(change.field)}: ${showValue(change.before)} -> ${showValue(change.after)}`;
}

/** Formats a value as JSON, cut if it is long. */
export function showValue(value: unknown): string {
  const text = cell(JSON.stringify(value) ?? "null");
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}...`;
}
