import type { Egress } from "#shared/internet/egress.ts";
import { refuse, type FieldProblem, type Read } from "#shared/schema/problem.ts";
import { readHeaderFields } from "#control-plane/core/header-fields.ts";
import type { EventType } from "#control-plane/notify/events/event.ts";
import { refuseProblem, refuseWrite, type Written } from "#control-plane/http/written.ts";
import type { PlanName } from "#control-plane/core/plans.ts";
import type { FormatName } from "#control-plane/notify/webhooks/formats/formats.ts";
import { FORMATS, keepMasked, parseOptions } from "#control-plane/notify/webhooks/formats/formats.ts";
import { selectedTypes, typesOf } from "#control-plane/notify/webhooks/match.ts";
import { MOST_HEADERS, webhook, type Given } from "#control-plane/notify/webhooks/resource.ts";
import { readStored } from "#control-plane/http/resource.ts";
import { leaveSecrets } from "#control-plane/notify/webhooks/new-origin.ts";
import {
  MASK,
  maskSecret,
  replaceSecret,
  secretProblem,
  signingSecrets,
  type WebhookSecrets,
} from "#control-plane/notify/webhooks/secrets.ts";
import type { WebhookDraft, WebhookFilter } from "#control-plane/notify/webhooks/webhook.ts";

/** A subscription to which a write was applied. */
export interface ReadWebhook extends WebhookDraft {
  /**
   * Secrets that stay behind because the url leads to another origin: `headers.` or `format_options.` and the name, and
   * `secret` for the one before the present one.
   */
  readonly removed: readonly string[];
}

/** What a draft is read with. */
interface ReadContext {
  readonly plan: PlanName;
  readonly egress: Egress;
  readonly now: Date;
}

const WRITTEN_HTTPS = /^ *https:\/\/[^/]/i;
const TAG = /^[a-z0-9:_./-]{1,50}$/;
/** Owners of documents: with `managed:` before it, one is a tag. */
const MANAGER = /^[a-z0-9:_./-]{1,42}$/;
/** Fields of the connection and of the framing of the message. */
const CONNECTION: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  "http2-settings",
]);
/** Beginnings of the fields that the service writes. */
const OWN = ["content-", "x-service-", "webhook-"];

/**
 * Applies the fields of a write to a subscription. Those that are not given keep their values. What a response shows in
 * place of a secret, sent back, keeps the secret, unless the url leads to another origin; so does the list that it shows
 * where all types are sent.
 */
export function readWebhook(
  fields: Given,
  present: WebhookDraft,
  { plan, egress, now }: ReadContext,
): Written<ReadWebhook> {
  const { isMoved, base, given, removed } = leaveSecrets(present, fields);
  const { settings, secrets } = base;
  const url = given.url === undefined ? null : readUrl(given.url, egress);
  if (url?.ok === false) return url;
  const stored = readStored(webhook, given, settings);
  if (!stored.ok) return refuseProblem(stored.problem);
  const events = readEvents(given.events, settings.events, plan);
  if (!events.ok) return events;
  const filter = readFilter(given.filter, settings.filter);
  if (!filter.ok) return refuseProblem(filter.problem);
  const secret = readSecret(given.secret, secrets);
  if (!secret.ok) return refuseProblem(secret.problem);
  const headers = readHeaders(given.headers ?? secrets.headers, secrets.headers);
  if (!headers.ok) return refuseProblem(headers.problem);
  const { managed_by: manager = secrets.managed_by ?? null } = given;
  if (manager !== null && !MANAGER.test(manager)) {
    const message = "must be 1 to 42 of the characters a-z 0-9 : _ . / -, or null";
    return refuseProblem({ field: "managed_by", reason: "type", message });
  }
  const { format } = stored.value;
  const options = readOptions(format, given.format_options, base);
  if (!options.ok) return refuseProblem(explainLeft(options.problem, removed));
  const signing = replaceSecret(secrets, secret.value, now);
  const hasPrevious = signingSecrets(signing, now).length > 1;
  return {
    ok: true,
    value: {
      settings: {
        ...stored.value,
        url: url?.value ?? settings.url,
        events: events.value,
        filter: filter.value,
      },
      secrets: {
        ...signing,
        ...(isMoved ? { previous: null } : {}),
        headers: headers.value,
        format_options: options.value,
        managed_by: manager,
      },
      removed: [...removed, ...(isMoved && hasPrevious ? ["secret"] : [])],
    },
  };
}

/** Says of a required option why its stored value is not there. */
function explainLeft(problem: FieldProblem, removed: readonly string[]): FieldProblem {
  if (!removed.includes(problem.field)) return problem;
  const message = "is required with this url: the stored value does not go to another origin";
  return { ...problem, reason: "required", message };
}

/** Checks the address of a receiver. The addresses of a name are checked at each attempt. */
function readUrl(raw: string, egress: Egress): Written<string> {
  const checked = egress.checkUrl(raw);
  if (!checked.ok && checked.code === "target_not_allowed") {
    const message = "url: this address, name or port cannot be reached by webhooks. Use a host on the public internet.";
    return refuseWrite({ code: "target_not_allowed", field: "url", message });
  }
  // URL parsers take https:host, too: such an address that is stored is still sent to.
  if (!checked.ok || !WRITTEN_HTTPS.test(raw)) {
    const message = "url: must be a URL that begins with https://, without user information.";
    return refuseWrite({ code: "invalid_url", field: "url", message });
  }
  return { ok: true, value: raw.trim() };
}

function readEvents(
  given: Given["events"],
  present: readonly EventType[] | null,
  plan: PlanName,
): Written<readonly EventType[] | null> {
  if (given === undefined) return { ok: true, value: present };
  if (given === null) return { ok: true, value: null };
  if (given.length === 0) {
    const message = "must have at least one type; null means all";
    return refuseProblem({ field: "events", reason: "range", message });
  }
  const allowed = typesOf(plan);
  const beyond = given.find((type) => !allowed.includes(type));
  if (beyond !== undefined) {
    const message = `The plan does not include ${beyond}. It allows ${allowed.join(", ")}.`;
    return refuseWrite({ code: "plan_restricted", field: "events", message });
  }
  const isShownList = present === null && isSameSet(given, selectedTypes(plan, null));
  return { ok: true, value: isShownList ? null : allowed.filter((type) => given.includes(type)) };
}

function isSameSet(given: readonly EventType[], types: readonly EventType[]): boolean {
  return given.every((type) => types.includes(type)) && types.every((type) => given.includes(type));
}

function readFilter(given: Given["filter"], present: WebhookFilter | null): Read<WebhookFilter | null> {
  if (given === undefined) return { ok: true, value: present };
  if (given === null) return { ok: true, value: null };
  const { monitor_ids: ids = [], tags = [] } = given;
  if (ids.length + tags.length === 0) {
    return refuse("filter", "range", "must name at least one monitor or tag; null means all monitors");
  }
  const wrong = tags.findIndex((tag) => !TAG.test(tag));
  if (wrong >= 0) {
    return refuse(`filter.tags.${wrong}`, "type", "must be 1 to 50 of the characters a-z 0-9 : _ . / -");
  }
  return { ok: true, value: { monitor_ids: [...new Set(ids)], tags: [...new Set(tags)] } };
}

function readSecret(given: string | undefined, { secret }: WebhookSecrets): Read<string> {
  if (given === undefined || (secret !== "" && given === maskSecret(secret))) return { ok: true, value: secret };
  const problem = secretProblem(given);
  return problem === null ? { ok: true, value: given } : refuse("secret", "type", problem);
}

/** Reads the options of a format. Those of another format than the present one begin empty. */
function readOptions(
  format: FormatName,
  given: Given["format_options"],
  present: WebhookDraft,
): Read<Readonly<Record<string, string>>> {
  const stored = format === present.settings.format ? present.secrets.format_options : {};
  const parsed = parseOptions(FORMATS[format], given === undefined ? stored : keepMasked(given, stored));
  return parsed.ok ? { ok: true, value: parsed.options } : refuse(parsed.field, "type", parsed.message);
}

function readHeaders(
  given: Readonly<Record<string, string>>,
  stored: Readonly<Record<string, string>>,
): Read<Readonly<Record<string, string>>> {
  return readHeaderFields(given, stored, {
    field: "headers",
    most: MOST_HEADERS,
    mask: MASK,
    reserved: (name) =>
      CONNECTION.has(name) || OWN.some((beginning) => name.startsWith(beginning))
        ? "cannot be set: the service writes this field itself"
        : null,
  });
}
