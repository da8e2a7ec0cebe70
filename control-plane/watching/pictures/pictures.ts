import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { App } from "#control-plane/core/app.ts";
import type { PictureRecorder, TakenPicture } from "#control-plane/watching/checking/watch/picture-finding.ts";
import { startUpkeep } from "#control-plane/core/database/upkeep.ts";
import { createComparer, type Comparer, type Compared } from "#control-plane/watching/pictures/compare/comparer.ts";
import {
  listPictures,
  readPicture,
  updateFault,
  keepPicture,
  lockVisual,
  readVisual,
  updateVisual,
  type VisualRow,
  readContent,
} from "#control-plane/watching/pictures/store.ts";
import { PICTURE_SPACE, sweepPictures, type PictureSpace, makeRoom } from "#control-plane/watching/pictures/space.ts";
import type { Teardown } from "#control-plane/core/teardown.ts";
import { createHash } from "node:crypto";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import type { CheckFault } from "#control-plane/outages/state/state.ts";
import { toChangedEvent } from "#control-plane/notify/events/visual-event.ts";
import { areCovered } from "#control-plane/outages/maintenance/coverage/coverage.ts";
import { inspectPng } from "#control-plane/watching/pictures/compare/png.ts";
import { VISUAL_DEFAULT } from "#control-plane/outages/kinds/visual.ts";
import type { CompareAnswer } from "#control-plane/watching/pictures/compare/messages.ts";
import { decideAnnouncing, decideComparing } from "#control-plane/watching/pictures/decide.ts";

/** A stored picture. */
interface StoredPicture {
  /** PNG. */
  readonly content: Uint8Array;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** The pictures of visual monitors. */
export interface Pictures extends PictureRecorder {
  /** Returns a picture of a monitor; null if it has none with this id. */
  find(monitorId: number, id: number): Promise<StoredPicture | null>;
  close(): void;
}

const UPKEEP_MS = 600_000;

/** Opens the pictures of one replica. Data exports of accounts name theirs, without the contents. */
export function openPictures(
  deps: Parameters<typeof createPictures>[0] & { readonly accounts: Accounts },
  teardown: Teardown,
): Pictures {
  const pictures = createPictures(deps);
  teardown.push(() => pictures.close());
  deps.accounts.addExporter("pictures", listPictures);
  return pictures;
}

/**
 * Creates the pictures of one replica. The thread that compares them starts with the first picture. Pictures that are not
 * in use are kept for `retentionMs`.
 */
export function createPictures(
  deps: Pick<App, "log" | "timers"> &
    Omit<RecordDeps, "comparer" | "space" | "hasRoom"> & {
      readonly retentionMs: number;
      readonly space?: PictureSpace;
    },
): Pictures {
  const { sql, clock, log, timers, retentionMs, space = PICTURE_SPACE } = deps;
  const comparer = createComparer();
  let hasRoom = true;
  const recording: RecordDeps = { ...deps, comparer, space, hasRoom: () => hasRoom };
  const upkeep = startUpkeep({
    everyMs: UPKEEP_MS,
    async round() {
      hasRoom = await sweepPictures(sql, new Date(clock.now().getTime() - retentionMs), space);
      if (!hasRoom) log.warn({ octets: space.total }, "pictures: the space of the installation is used up");
    },
    name: "pictures: housekeeping",
    log,
    timers,
  });
  return {
    record: (taken) => recordPicture(recording, taken),
    noteFault: (monitorId, found) => updateFault(sql, monitorId, JSON.stringify(found)),
    find: (monitorId, id) => readPicture(sql, monitorId, id),
    close() {
      upkeep.stop();
      comparer.close();
    },
  };
}

/** Dependencies of recording. */
interface RecordDeps extends Pick<App, "sql" | "clock"> {
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
async function recordPicture(deps: RecordDeps, taken: TakenPicture): Promise<CheckFault | null> {
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

/** How a new picture relates to those of its monitor, or why it could not be compared. */
type Examined =
  | { readonly ok: false; readonly reason: string; readonly message: string }
  | {
      readonly ok: true;
      /** Pixels that differ from the accepted picture, percent. */
      readonly ratio: number;
      readonly threshold: number;
      /** Whether more differs than the threshold. */
      readonly isChanged: boolean;
      /** Whether the change has to be announced. */
      readonly isNews: boolean;
      /** Names the comparison, so that it is not repeated. */
      readonly comparison: string;
      /** A new picture of the difference, or the id of a stored one. */
      readonly difference: Extract<CompareAnswer, { kind: "compared" }>["difference"];
      readonly differenceId: number | null;
    };

const FAILURES: Readonly<Record<Exclude<Compared["kind"], "compared">, string>> = {
  invalid: "the picture of the probe was rejected: it cannot be decoded",
  busy: "too many pictures wait for their comparison",
  too_slow: "the comparison of the pictures took too long",
  broken: "the comparison of the pictures failed",
};

type Done = Extract<CompareAnswer, { kind: "compared" }>;
type Failure = Extract<Examined, { ok: false }>;

/** Compares a picture with the accepted one, and with the one that was announced last, as far as it is not known. */
async function examinePicture(
  { sql, comparer }: Pick<App, "sql"> & { readonly comparer: Comparer },
  row: VisualRow,
  { bytes, sha256 }: Pick<TakenPicture, "bytes" | "sha256">,
): Promise<Examined> {
  const { visual } = readStoredSettings(row.settings);
  const { ignore: ignored, threshold_percent: threshold } = visual ?? VISUAL_DEFAULT;
  const comparison = JSON.stringify([row.acceptedId, ignored]);

  async function compare(otherId: number | null, showAbove: number | null): Promise<Done | Failure> {
    const compared = await comparer.run(async () => {
      const accepted = otherId === null ? null : await readContent(sql, otherId);
      return { taken: bytes, accepted, ignored, showAbove };
    });
    if (compared.kind === "compared") return compared;
    const reason = compared.kind === "invalid" ? "picture_invalid" : `comparison_${compared.kind}`;
    return { ok: false, reason, message: FAILURES[compared.kind] };
  }

  const decided = decideComparing(row, sha256, comparison);
  let ratio = 0;
  let difference: Done["difference"] = null;
  let differenceId: number | null = null;
  if (decided.kind === "known") ({ ratio, differenceId } = decided);
  else if (decided.kind !== "same") {
    const compared = await compare(row.acceptedId, threshold);
    if ("ok" in compared) return compared;
    ({ ratio, difference } = compared);
  }
  const announcing = decideAnnouncing(row, { sha256, ratio, threshold });
  let isNews = announcing === "announce";
  if (announcing === "compare") {
    const compared = await compare(row.announcedId, null);
    if ("ok" in compared) return compared;
    isNews = compared.ratio > threshold;
  }
  return {
    ok: true,
    ratio,
    threshold,
    isChanged: announcing !== "within",
    isNews,
    comparison,
    difference,
    differenceId,
  };
}
