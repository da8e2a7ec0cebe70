import { createHash } from "node:crypto";
import type { Clock } from "#shared/time/clock.ts";
import type { TakenPicture } from "#control-plane/watching/checking/watch/picture-finding.ts";
import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import type { CheckFault } from "#control-plane/outages/state/observation.ts";
import { toChangedEvent } from "#control-plane/notify/events/visual-event.ts";
import { areCovered } from "#control-plane/outages/maintenance/coverage/coverage.ts";
import type { Comparer } from "#control-plane/watching/pictures/compare/comparer.ts";
import { inspectPng } from "#control-plane/watching/pictures/compare/png.ts";
import { examinePicture, type Examined } from "#control-plane/watching/pictures/examine.ts";
import {
  keepPicture,
  lockVisual,
  readVisual,
  updateVisual,
  type VisualRow,
} from "#control-plane/watching/pictures/store.ts";
import { makeRoom, type PictureSpace } from "#control-plane/watching/pictures/upkeep/space.ts";

/** Dependencies of recording. */
export interface RecordDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly events: Events;
  readonly comparer: Comparer;
  readonly space: PictureSpace;
  /** Whether the installation has room for more pictures. */
  readonly hasRoom: () => boolean;
  /** Address of the service, without a slash at its end. */
  readonly baseUrl: string;
}

/**
 * Attempts if another replica, or a user who accepts a picture, writes at the same time. An attempt is lost only if
 * another writer has succeeded, so this many writers all succeed. A plan has at most 50 locations for a monitor.
 */
const ATTEMPTS = 51;

/** Why a picture was not stored; `source` probe: it says nothing about the page. */
function fault(reason: string, message: string): CheckFault {
  return { stage: "response", source: "probe", reason, message };
}

const NO_ROOM = fault("pictures_full", "the space for pictures is used up: accept fewer, or delete visual monitors");

/** Thrown to roll back the transaction of a picture for which there is no room. */
class NoRoom extends Error {}

/**
 * Compares a picture with the accepted one and stores it; see PictureRecorder. Writers are kept apart by the version of
 * the row: what another one has changed meanwhile is read again. So a change is announced once, whatever crashes.
 */
export async function recordPicture(deps: RecordDeps, taken: TakenPicture): Promise<CheckFault | null> {
  const inspected = inspectPng(Buffer.from(taken.bytes));
  if (!inspected.ok) return fault("picture_invalid", `the picture of the probe was rejected: ${inspected.fault}`);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const row = await readVisual(deps.sql, taken.monitorId);
    // The monitor was deleted, or looks at something else now.
    if (row === null || row.basis !== taken.basis) return null;
    const examined = await examinePicture(deps, row, taken);
    if (!examined.ok) return fault(examined.reason, examined.message);
    const done = await store(deps, { row, taken, size: inspected.format, examined });
    if (done === "stored") return null;
    if (done === "full") return NO_ROOM;
  }
  return fault("pictures_busy", "the pictures of this monitor were changed at the same time");
}

/** A picture with what its examination found. */
interface ToStore {
  readonly row: VisualRow;
  readonly taken: TakenPicture;
  readonly size: { readonly width: number; readonly height: number };
  readonly examined: Extract<Examined, { ok: true }>;
}

async function store(deps: RecordDeps, picture: ToStore): Promise<"stored" | "stale" | "full"> {
  try {
    return await transact(deps.sql, async (tx) => ((await write(tx, deps, picture)) ? "stored" : "stale"));
  } catch (error) {
    if (error instanceof NoRoom) return "full";
    throw error;
  }
}

async function write(tx: Transaction, deps: RecordDeps, { row, taken, size, examined }: ToStore): Promise<boolean> {
  const { monitorId, accountId, takenAt, location } = taken;
  const monitor = await lockVisual(tx, { accountId, monitorId, version: row.version });
  if (monitor === null) return false;
  const common = { monitorId, takenAt };
  const { width, height } = size;
  const content = taken.bytes;
  const kept = await keepPicture(tx, { ...common, kind: "taken", sha256: taken.sha256, width, height, content });
  const shown =
    examined.difference === null
      ? null
      : await keepPicture(tx, {
          ...common,
          kind: "difference",
          sha256: hashOfPicture(examined.difference.bytes),
          width: examined.difference.width,
          height: examined.difference.height,
          content: examined.difference.bytes,
        });
  const differenceId = shown?.id ?? examined.differenceId;
  const { notify_email: isMailed, notify_emails: emails } = readStoredSettings(monitor.settings);
  const [isCovered = false] = examined.isNews
    ? await areCovered(tx, [{ accountId, monitorId, tags: monitor.tags, at: takenAt }])
    : [];
  // A change during maintenance is announced afterwards, if the page still differs then.
  const isAnnounced = examined.isNews && !isCovered;
  await updateVisual(tx, {
    monitorId,
    acceptedId: row.acceptedId === null ? kept.id : null,
    latestId: kept.id,
    latestAt: takenAt,
    latestRatio: examined.ratio,
    differenceId,
    compared: examined.comparison,
    announcedId: isAnnounced ? kept.id : examined.isChanged ? row.announcedId : null,
    announcedDifferenceId: isAnnounced ? differenceId : examined.isChanged ? row.announcedDifferenceId : null,
  });
  if (isAnnounced && row.acceptedId !== null) {
    const { ratio, threshold } = examined;
    const change = { accountId, monitor, location, ratio, threshold, acceptedId: row.acceptedId, latestId: kept.id };
    const mailTo = isMailed ? emails : undefined;
    await deps.events.publish(tx, [
      toChangedEvent({ ...change, differenceId, at: deps.clock.now(), mailTo }, deps.baseUrl),
    ]);
  }
  if (!kept.isNew && shown?.isNew !== true) return true;
  if (!deps.hasRoom() || !(await makeRoom(tx, { accountId, monitorId }, deps.space))) throw new NoRoom();
  return true;
}

/** Returns the SHA-256 of a picture as lower-case hex. */
function hashOfPicture(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
