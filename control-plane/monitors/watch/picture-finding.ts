import type { Logger } from "pino";
import type { CheckAnswer } from "#control-plane/checks/answer.ts";
import type { Artifact } from "#control-plane/dispatch/artifacts.ts";
import type { PictureRecorder } from "#control-plane/monitors/picture-port.ts";
import type { CheckFault } from "#control-plane/monitors/state/observation.ts";
import type { ClaimedSlot } from "#control-plane/monitors/schedule/store.ts";
import { basisOf } from "#control-plane/monitors/visual-basis.ts";
import type { Finding } from "#control-plane/monitors/watch/observe.ts";
import type { WatchedMonitor } from "#control-plane/monitors/watch/watched.ts";

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
  slot: Pick<ClaimedSlot, "monitorId" | "accountId" | "location">,
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
    const artifact = finding.verdict === "up" ? fileOf(answer) : null;
    const taken = { monitorId, accountId, basis, location, takenAt: new Date(beganAt) };
    const fault = artifact === null ? (finding.fault ?? NO_FILE) : await pictures.record({ ...taken, ...artifact });
    if (fault === null) return finding;
    await pictures.noteFault(monitorId, fault);
    return { ...finding, verdict: "unknown", responseMs: null, fault };
  }

  return async (slot, { url, settings: { visual } }, checked) => {
    if (visual === null) return checked.finding;
    try {
      return await examine(slot, basisOf(url, visual), checked);
    } catch (error) {
      log.warn({ err: error, monitor: slot.monitorId }, "monitors: a picture could not be stored; it is taken again");
      return null;
    }
  };
}

function fileOf(answer: CheckAnswer): Artifact | null {
  const [row] = answer.kind === "multi" ? answer.data.locations : [];
  return row?.status === "ok" ? (row.artifact ?? null) : null;
}
