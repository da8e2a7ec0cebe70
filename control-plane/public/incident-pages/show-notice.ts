import type { Page } from "#control-plane/public/incident-pages/page.ts";
import { readNotice, type Notice, type NoticePicture } from "#control-plane/notify/mail/content/event-body.ts";
import { dashboardUrl, writeNotice } from "#control-plane/notify/mail/content/notice.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";
import { wordsOf } from "#control-plane/notify/mail/content/words.ts";

/** Lists the pictures of an event; empty for events about anything else. */
export function listPictures({ type, body }: { readonly type: string; readonly body: string }): {
  readonly monitorId: number;
  readonly pictures: readonly NoticePicture[];
} {
  const { monitorId, page } = readNotice({ id: "", type, body });
  return { monitorId: monitorId ?? 0, pictures: page?.pictures ?? [] };
}

/** Lays out an event that belongs to no incident, in the words of its mail. `addressOf`: of a picture by its name. */
export function showNoticePage(
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
    state: wordsOf(notice).label,
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
