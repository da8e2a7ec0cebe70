import type { App } from "#control-plane/core/app.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import { madeAt, readToken, type Link } from "#control-plane/public/incident-pages/link.ts";
import type { Page } from "#control-plane/public/incident-pages/page.ts";
import { showIncidentPage } from "#control-plane/public/incident-pages/show-incident.ts";
import { changeByHand, readIncident, type ReadEvidence } from "#control-plane/outages/incidents/incidents.ts";
import type { Recipients } from "#control-plane/notify/mail/recipients/recipients.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { readNotice, type Notice, type NoticePicture } from "#control-plane/notify/mail/content/event-body.ts";
import { dashboardUrl, writeNotice } from "#control-plane/notify/mail/content/notice.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";
import { labelsOf } from "#control-plane/notify/mail/content/labels.ts";

/** What a link leads to. ended: its recipient was a member, and is none. unknown: it was altered, or what it showed is gone. */
export type Found<T> =
  | { readonly kind: "found"; readonly value: T }
  | { readonly kind: "expired" }
  | { readonly kind: "ended" }
  | { readonly kind: "unknown" };

/** Pages of incidents behind the links of mails, each for one incident or event and one recipient. */
export interface IncidentPages {
  /** Returns the page of a link. */
  show(token: string): Promise<Found<Page>>;
  /** Acknowledges the incident of a link, once, and returns its page. unknown also for an event without an incident. */
  acknowledge(token: string): Promise<Found<Page>>;
  /** Returns a picture of the event of a link, PNG. `name`: latest, accepted or difference. */
  picture(token: string, name: string): Promise<Found<Uint8Array>>;
}

/** Dependencies of the pages. */
interface IncidentPagesDeps extends Pick<App, "sql" | "clock"> {
  readonly encryption: Encryption;
  /** Address of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly events: Pick<Events, "find">;
  readonly recipients: Pick<Recipients, "find">;
  readonly pictures: {
    find(monitorId: number, id: number): Promise<{ readonly content: Uint8Array } | null>;
  };
  readonly evidenceOf: ReadEvidence;
}

/** A valid link with the recipient that it was made for. */
interface OpenLink extends Link {
  readonly accountId: number;
  readonly email: string;
}

const UNKNOWN = { kind: "unknown" } as const;

/** Creates the pages. */
export function createIncidentPages(deps: IncidentPagesDeps): IncidentPages {
  const { sql, clock, encryption, baseUrl, events, recipients, pictures, evidenceOf } = deps;

  async function open(token: string): Promise<Found<OpenLink>> {
    const link = readToken(encryption, token);
    if (link === null) return UNKNOWN;
    if (link.expiresAt <= clock.now()) return { kind: "expired" };
    const recipient = await recipients.find(link.recipientId);
    if (recipient === null) return UNKNOWN;
    const { linksEndedAt } = recipient;
    const isEnded = linksEndedAt !== null && madeAt(link) <= linksEndedAt;
    return isEnded ? { kind: "ended" } : found({ ...link, ...recipient });
  }

  async function pageOf({ subject, accountId, expiresAt }: OpenLink, token: string): Promise<Found<Page>> {
    if ("incidentId" in subject) {
      const incident = await readIncident(sql, accountId, subject.incidentId, { now: clock.now(), evidenceOf });
      return incident === null ? UNKNOWN : found(showIncidentPage(incident, { baseUrl, expiresAt }));
    }
    const { eventId: id } = subject;
    const event = await events.find(sql, accountId, id);
    if (event === null) return UNKNOWN;
    const addressOf = (name: string): string => `/i/${token}/${name}`;
    return found(showNoticePage({ id, ...event }, { baseUrl, expiresAt, addressOf }));
  }

  return {
    async show(token) {
      const link = await open(token);
      return link.kind === "found" ? pageOf(link.value, token) : link;
    },
    async acknowledge(token) {
      const link = await open(token);
      if (link.kind !== "found") return link;
      const { subject, accountId, email } = link.value;
      if (!("incidentId" in subject)) return UNKNOWN;
      const author = { by: `mail, ${email}`, at: clock.now() };
      await transact(sql, (tx) => changeByHand(tx, accountId, subject.incidentId, { acknowledged: true }, author));
      return pageOf(link.value, token);
    },
    async picture(token, name) {
      const link = await open(token);
      if (link.kind !== "found") return link;
      const { subject, accountId } = link.value;
      const event = "eventId" in subject ? await events.find(sql, accountId, subject.eventId) : null;
      if (event === null) return UNKNOWN;
      const { monitorId, pictures: named } = listPictures(event);
      const id = named.find((one) => one.name === name)?.pictureId;
      const picture = id === undefined ? null : await pictures.find(monitorId, id);
      return picture === null ? UNKNOWN : found(picture.content);
    },
  };
}

function found<T>(value: T): Found<T> {
  return { kind: "found", value };
}

/** Lists the pictures of an event; empty for events about anything else. */
function listPictures({ type, body }: { readonly type: string; readonly body: string }): {
  readonly monitorId: number;
  readonly pictures: readonly NoticePicture[];
} {
  const { monitorId, page } = readNotice({ id: "", type, body });
  return { monitorId: monitorId ?? 0, pictures: page?.pictures ?? [] };
}

/** Lays out an event that belongs to no incident, in the words of its mail. `addressOf`: of a picture by its name. */
function showNoticePage(
  event: { readonly id: string; readonly type: string; readonly body: string },
  {
    baseUrl,
    expiresAt,
    addressOf,
  }: {
    readonly baseUrl: string;
    readonly expiresAt: Date;
    readonly addressOf: (picture: string) => string;
  },
): Page {
  const notice = readNotice(event);
  const { headline, facts, list } = writeNotice(notice, baseUrl);
  return {
    state: labelsOf(notice).label,
    tone: toneOf(notice),
    name: notice.name,
    sentences: [headline],
    canAcknowledge: false,
    facts,
    pictures: (notice.page?.pictures ?? []).map(({ name, label }) => ({ label, url: addressOf(name) })),
    blocks: list === null ? [] : [{ title: list.title, isOpen: true, lines: list.items, columns: null, rows: [] }],
    dashboardUrl: notice.monitorId === null ? null : dashboardUrl(baseUrl, notice),
    footer: `This page opens without signing in until ${formatTime(expiresAt)}: keep its address to yourself.`,
  };
}

function toneOf({ kind, type }: Notice): Page["tone"] {
  if (kind === "not_degraded" || kind === "up") return "up";
  if (type.endsWith(".expired") || kind === "down" || kind === "reminder") return "down";
  return kind === "degraded" || kind === "visual" || type.endsWith(".expiring") ? "warn" : "note";
}
