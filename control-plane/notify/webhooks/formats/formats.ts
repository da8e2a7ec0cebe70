import { isRecord } from "#shared/text/is-record.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import { alertmanager } from "#control-plane/notify/webhooks/formats/alertmanager.ts";
import { discord } from "#control-plane/notify/webhooks/formats/discord.ts";
import type { Format, FormatOption } from "#control-plane/notify/webhooks/formats/format.ts";
import { googleChat } from "#control-plane/notify/webhooks/formats/google-chat.ts";
import { gotify } from "#control-plane/notify/webhooks/formats/gotify.ts";
import { incidentIo } from "#control-plane/notify/webhooks/formats/incident-io.ts";
import { jsm } from "#control-plane/notify/webhooks/formats/jsm.ts";
import { mattermost } from "#control-plane/notify/webhooks/formats/mattermost.ts";
import { ntfy } from "#control-plane/notify/webhooks/formats/ntfy.ts";
import { opsgenie } from "#control-plane/notify/webhooks/formats/opsgenie.ts";
import { MOST_VALUE } from "#control-plane/notify/webhooks/formats/options.ts";
import { pagerduty } from "#control-plane/notify/webhooks/formats/pagerduty.ts";
import { pushover } from "#control-plane/notify/webhooks/formats/pushover.ts";
import { slack } from "#control-plane/notify/webhooks/formats/slack.ts";
import { standard } from "#control-plane/notify/webhooks/formats/standard.ts";
import { MASK } from "#control-plane/notify/webhooks/secrets.ts";
import { teams } from "#control-plane/notify/webhooks/formats/teams.ts";
import { telegram } from "#control-plane/notify/webhooks/formats/telegram.ts";

/** The formats by name, the default first. */
const ALL = {
  standard,
  slack,
  discord,
  teams,
  "google-chat": googleChat,
  mattermost,
  telegram,
  ntfy,
  gotify,
  pushover,
  pagerduty,
  opsgenie,
  jsm,
  "incident-io": incidentIo,
  alertmanager,
};

/** Name of a format in which events are sent. */
export type FormatName = keyof typeof ALL;
/** The formats by name. */
export const FORMATS: Readonly<Record<FormatName, Format>> = ALL;
/** Names of the formats, the default first. */
export const FORMAT_NAMES = Object.keys(ALL) as readonly FormatName[];

/** The options of a format as they are stored, or what is wrong with the first wrong one. */
type ParsedOptions =
  | { readonly ok: true; readonly options: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly field: string; readonly message: string };

/** Maximum length of an unknown name in a message. */
const MOST_NAME = 40;

/**
 * Reads the field `format_options` of a request; absent and null mean none. Values are strings; a whole number is
 * accepted as one, because chats of Telegram and priorities of Pushover are numbers in their documentation. Messages say
 * what is allowed.
 */
export function parseOptions({ name, options }: Pick<Format, "name" | "options">, given: unknown): ParsedOptions {
  if (given != null && !isRecord(given)) return refuse("format_options", "must be an object of strings");
  const values = new Map<string, unknown>(Object.entries(given ?? {}));
  const unknown = [...values.keys()].find((key) => options.every((known) => known.name !== key));
  if (unknown !== undefined) {
    const known = options.length === 0 ? "none" : options.map((one) => one.name).join(", ");
    return refuse(fieldOf(toPlainLine(unknown, MOST_NAME)), `is no option of the format ${name}, which has ${known}`);
  }
  const parsed: [string, string][] = [];
  for (const one of options) {
    const value = asText(values.get(one.name) ?? null);
    if (value === null && !one.required) continue;
    const problem = value === null ? `is required: ${one.description}` : problemOf(one, value);
    if (problem !== null) return refuse(fieldOf(one.name), problem);
    parsed.push([one.name, value as string]);
  }
  return { ok: true, options: Object.fromEntries(parsed) };
}

/** Returns what the owner of a subscription with this format should know about it; null: nothing. */
export function adviseOn({ title, end }: Pick<Format, "title" | "end">): string | null {
  if (end === undefined) return null;
  return `${title} ends on ${end.on}. The format ${end.successor} takes its place: change the webhook before that day.`;
}

/** Returns the options of a format as answers show them: secret values as a mask, which `keepMasked` takes back. */
export function maskOptions(
  { options }: Pick<Format, "options">,
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    options.flatMap(({ name, secret }) => {
      const value = values[name];
      return value === undefined ? [] : [[name, secret ? MASK : value]];
    }),
  );
}

/** Replaces each mask in the given options by the stored value; one without a stored value stays, and is refused. */
export function keepMasked(
  given: Readonly<Record<string, string | number>>,
  stored: Readonly<Record<string, string>>,
): Readonly<Record<string, string | number>> {
  const kept = new Map(Object.entries(stored));
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value === MASK ? (kept.get(name) ?? value) : value]),
  );
}

function asText(value: unknown): unknown {
  return Number.isSafeInteger(value) ? String(value) : value;
}

function problemOf(one: FormatOption, value: unknown): string | null {
  if (typeof value !== "string") return `must be a string: ${one.description}`;
  if (one.secret && value === MASK) return `${MASK} is what responses show in place of a secret; give the value itself`;
  return value.length > MOST_VALUE ? `must have at most ${MOST_VALUE} characters` : one.check(value);
}

function refuse(field: string, message: string): ParsedOptions {
  return { ok: false, field, message };
}

function fieldOf(name: string): string {
  return `format_options.${name}`;
}
