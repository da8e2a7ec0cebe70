import type { Logger } from "pino";
import type { CheckAnswer } from "#control-plane/checks/answer.ts";
import type { Artifact } from "#control-plane/checks/dispatch/artifacts.ts";
import type { CheckFault } from "#control-plane/outages/state/state.ts";
import type { ClaimedEntry } from "#control-plane/watching/checking/schedule/store.ts";
import { basisOf } from "#control-plane/outages/kinds/visual.ts";
import type { Finding } from "#control-plane/watching/checking/watch/observe.ts";
import type { WatchedMonitor } from "#control-plane/watching/checking/watch/watched.ts";

/** A picture that a check has taken. */
export interface TakenPicture {
  readonly monitorId: number;
  readonly accountId: number;
  /** What it was taken with (visual-basis.ts). */
  readonly basis: string;
  readonly location: string;
  readonly takenAt: Date;
  /** PNG as the agent sent it. */
  readonly bytes: Uint8Array;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** What the checks of visual monitors do with their pictures. */
export interface PictureRecorder {
  /**
   * Compares a picture and stores it, with the event if the page has changed, in one transaction. Returns null, or why it
   * could not. A picture whose monitor was changed or deleted meanwhile is dropped. Rejects while the database is away.
   */
  record(taken: TakenPicture): Promise<CheckFault | null>;
  /** Notes why a check gave no picture. */
  noteFault(monitorId: number, fault: CheckFault): Promise<void>;
}

/** A check with what it found. */
interface Checked {
  readonly answer: CheckAnswer;
  readonly finding: Finding;
  /** Unix milliseconds. */
  readonly beganAt: number;
}

/**
 * Returns what to record for a check. For other check types that is its finding. The picture of a visual monitor is
 * compared and stored before: with a picture the monitor is up, without one it is unknown, and never down. Returns null
 * if the picture could not be stored now: it is taken again later.
 */
export type PictureFinding = (
  entry: Pick<ClaimedEntry, "monitorId" | "accountId" | "location">,
  monitor: WatchedMonitor,
  checked: Checked,
) => Promise<Finding | null>;

const NO_FILE: CheckFault = {
  stage: "response",
  source: "probe",
  reason: "picture_missing",
  message: "the probe sent no picture",
};

/** Creates the examination of pictures. */
export function createPictureFinding(pictures: PictureRecorder, log: Logger): PictureFinding {
  async function examine(
    { monitorId, accountId, location }: Parameters<PictureFinding>[0],
    basis: string,
    { answer, finding, beganAt }: Checked,
  ): Promise<Finding> {
    const { artifact, fault: missing } = pictureOf(answer, finding);
    const taken = { monitorId, accountId, basis, location, takenAt: new Date(beganAt) };
    const fault = artifact === null ? missing : await pictures.record({ ...taken, ...artifact });
    if (fault === null) return finding;
    await pictures.noteFault(monitorId, fault);
    return withoutPicture(finding, fault);
  }

  return async (entry, { url, settings: { visual } }, checked) => {
    if (visual === null) return checked.finding;
    try {
      return await examine(entry, basisOf(url, visual), checked);
    } catch (error) {
      log.warn({ err: error, monitor: entry.monitorId }, "monitors: a picture could not be stored; it is taken again");
      return null;
    }
  };
}

/** Returns the picture of a check, or why it has none. */
export function pictureOf(
  answer: CheckAnswer,
  { verdict, fault }: Finding,
): { readonly artifact: Artifact; readonly fault: null } | { readonly artifact: null; readonly fault: CheckFault } {
  const artifact = verdict === "up" ? fileOf(answer) : null;
  return artifact === null ? { artifact, fault: fault ?? NO_FILE } : { artifact, fault: null };
}

/** Returns the finding of a check of a visual monitor that has no picture: nothing is known. */
export function withoutPicture(finding: Finding, fault: CheckFault): Finding {
  return { ...finding, verdict: "unknown", responseMs: null, fault };
}

function fileOf(answer: CheckAnswer): Artifact | null {
  const [row] = answer.kind === "multi" ? answer.data.locations : [];
  return row?.status === "ok" ? (row.artifact ?? null) : null;
}
