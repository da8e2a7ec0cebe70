import { maskAddress } from "#shared/webhooks/mask-address.ts";
import { diffShown, type ChangedField } from "#control-plane/http/access/diff-shown.ts";
import type { WebhookDraft } from "#control-plane/notify/webhooks/webhook.ts";
import { READ_ONLY } from "#control-plane/notify/webhooks/schemas.ts";
import type { ShownWebhook } from "#control-plane/notify/webhooks/view.ts";

/** A subscription with its secrets, and as the API shows it. */
interface Webhook extends WebhookDraft {
  readonly shown: ShownWebhook;
}

/** Returns the names of the fields in which two drafts differ; of header fields and options each has its own. */
export function changedNames(before: WebhookDraft, after: WebhookDraft): readonly string[] {
  const fieldsOf = ({ settings, secrets }: WebhookDraft) => ({
    name: settings.name,
    url: settings.url,
    secret: secrets.secret,
    events: settings.events,
    filter: settings.filter,
    ...named("headers", secrets.headers),
    format: settings.format,
    ...named("format_options", secrets.format_options),
    managed_by: secrets.managed_by ?? null,
    is_active: settings.isActive,
  });
  const [one, other]: readonly Readonly<Record<string, unknown>>[] = [fieldsOf(before), fieldsOf(after)];
  const fields = Object.keys({ ...one, ...other });
  return fields.filter((field) => JSON.stringify(one?.[field]) !== JSON.stringify(other?.[field]));
}

/**
 * Returns the fields of a subscription that a change has changed: those that users write. An address that is a secret, in
 * whole or in part, counts as one: the log is also read by others than the owner.
 */
export function changedFields(before: Webhook, after: Webhook): readonly ChangedField[] {
  const changed = new Set(changedNames(before, after));
  const [one, other] = [before.secrets, after.secrets];
  const [past, present] = [before.shown.format_options, after.shown.format_options];
  // An option that is no secret is shown as it is.
  const isShown = (name: string) =>
    past[name] === one.format_options[name] && present[name] === other.format_options[name];
  const headers = Object.keys({ ...other.headers, ...one.headers });
  const options = Object.keys({ ...other.format_options, ...one.format_options }).filter((name) => !isShown(name));
  const secrets = [
    "secret",
    ...([before, after].some(hasSecretUrl) ? ["url"] : []),
    ...headers.map((name) => `headers.${name}`),
    ...options.map((name) => `format_options.${name}`),
  ].filter((field) => changed.has(keyOf(field)));
  return diffShown(writable(before), writable(after), secrets);
}

function hasSecretUrl({ settings }: Webhook): boolean {
  return maskAddress(settings) !== settings.url;
}

function writable({ shown }: Webhook): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(shown).filter(([name]) => !READ_ONLY.includes(name)));
}

/** Returns the fields of an object of a draft by their dotted names. */
function named(object: string, values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [keyOf(`${object}.${name}`), value]));
}

/** Names of header fields have no case. */
function keyOf(field: string): string {
  return field.startsWith("headers.") ? field.toLowerCase() : field;
}
