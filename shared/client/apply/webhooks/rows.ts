import type { Row, SecretField } from "#shared/client/apply/document.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { maskAddress } from "#shared/webhooks/mask-address.ts";

/** Shown in place of a secret value; a document that has it keeps the stored value. */
export const MASK = "****";

/** Fields of a webhook in a document. */
export const WEBHOOK_FIELDS = [
  "name",
  "url",
  "secret",
  "events",
  "filter",
  "headers",
  "format",
  "format_options",
  "is_active",
] as const;

/** Where webhooks have secrets. The address is one, as far as others see it masked. */
export const WEBHOOK_SECRETS: readonly SecretField[] = [
  { path: ["url"], isMap: false },
  { path: ["secret"], isMap: false },
  { path: ["headers"], isMap: true },
  { path: ["format_options"], isMap: true },
];

/** A webhook of the account. */
export interface OwnWebhook {
  readonly id: number;
  readonly name: string;
  /** Its name is also that of another, or empty. */
  readonly hasSharedName: boolean;
  /** Its name with its id, which also means it. */
  readonly idTitle: string;
  /** What an export calls it: its name, or with the id if the name is shared. */
  readonly title: string;
  /** As a document has it, but with its whole address. */
  readonly row: Row;
  /** The masked secret, as the service shows it. */
  readonly shownSecret: string;
  /** Owner of the document by which it was made; null: another origin. */
  readonly managedBy: string | null;
}

/**
 * Returns the webhooks of an account from the list of the service. A document names each by its own name; one whose name
 * is empty or that of another is named with its id, so that it stays the same one if the other goes. `monitors`: names of
 * the monitors in an export, by id; a filter is without those that are gone.
 */
export function ownWebhooks(list: readonly unknown[], monitors: ReadonlyMap<number, string>): readonly OwnWebhook[] {
  const shown = list.filter(isRecord);
  const numbers = Map.groupBy(shown, ({ name }) => nameOf(name));
  return shown.map((webhook) => {
    const name = nameOf(webhook["name"]);
    const id = Number(webhook["id"]);
    const hasSharedName = name === "" || (numbers.get(name)?.length ?? 0) > 1;
    const idTitle = `${name === "" ? "webhook" : name} (${id})`;
    return {
      id,
      name,
      hasSharedName,
      idTitle,
      title: hasSharedName ? idTitle : name,
      row: toRow(webhook, monitors),
      shownSecret: String(webhook["secret"]),
      managedBy: typeof webhook["managed_by"] === "string" ? webhook["managed_by"] : null,
    };
  });
}

/** Names are compared without spaces around them. */
export function nameOf(name: unknown): string {
  return typeof name === "string" ? name.trim() : "";
}

function toRow(webhook: Row, monitors: ReadonlyMap<number, string>): Row {
  const { url, events, filter, headers, format, format_options, is_active, inactive_reason: reason } = webhook;
  // What the plan alone makes inactive is active for its owner, as with monitors.
  const isActive = is_active === true || reason === "plan_limit";
  const row = { url, events, filter: toNames(filter, monitors), headers, format, format_options, is_active: isActive };
  return row;
}

function toNames(filter: unknown, monitors: ReadonlyMap<number, string>): unknown {
  if (!isRecord(filter)) return null;
  const { monitor_ids: ids, tags } = filter;
  const names = Array.isArray(ids) ? ids.flatMap((id) => monitors.get(Number(id)) ?? []) : [];
  return { monitors: names, tags: tags ?? [] };
}

/**
 * Returns the rows of webhooks for an export, without secrets, and what it leaves out: a webhook whose name with its id is
 * that of another.
 */
export function exportWebhooks(own: readonly OwnWebhook[]): {
  readonly rows: readonly Row[];
  readonly leftOut: readonly string[];
} {
  const names = new Set(own.filter(({ hasSharedName }) => !hasSharedName).map(({ title }) => title));
  const isTaken = ({ hasSharedName, title }: OwnWebhook) => hasSharedName && names.has(title);
  return {
    rows: own.filter((one) => !isTaken(one)).map(({ title, row }) => ({ name: title, ...row, url: maskedUrl(row) })),
    leftOut: own
      .filter(isTaken)
      .map(({ id, title }) => `the webhook ${id} is left out: give it a name, since another has the name ${title}`),
  };
}

/** Returns the address of a webhook as others may read it. */
export function maskedUrl({ url, format }: Row): string {
  return URL.canParse(String(url)) ? maskAddress({ url: String(url), format: String(format) }) : MASK;
}

/** Finds the webhook that a name of a document means; undefined: none has it; null: several have it. */
export function findOwn(own: readonly OwnWebhook[], name: string): OwnWebhook | null | undefined {
  const named = own.filter((one) => one.name === name);
  if (named.length > 1) return null;
  return named[0] ?? own.find(({ idTitle }) => idTitle === name);
}
