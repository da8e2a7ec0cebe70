import { startOrphans } from "#control-plane/watching/checking/schedule/orphans.ts";
import { startTimeoutSweep } from "#control-plane/watching/checking/timeout-sweep/sweep.ts";
import { createPictureFinding, type PictureRecorder } from "#control-plane/watching/checking/watch/picture-finding.ts";
import { startWatch, type Watch } from "#control-plane/watching/checking/watch/watch.ts";
import type { Teardown } from "#control-plane/core/teardown.ts";

/**
 * Starts the checks of monitors, the timeout sweep, and the repetition of lost checks. Running
 * checks have `graceMs` to end when the replica stops.
 */
export function openChecking(
  deps: Omit<Parameters<typeof startWatch>[0], "pictureFinding"> & {
    readonly pictures: PictureRecorder;
    readonly graceMs: () => number;
  },
  teardown: Teardown,
): Watch {
  const watch = startWatch({ ...deps, pictureFinding: createPictureFinding(deps.pictures, deps.log) });
  teardown.push(() => watch.stop(deps.graceMs()));
  const orphans = startOrphans({ ...deps, replicaId: deps.checks.hub.replicaId });
  teardown.push(() => orphans.stop());
  const sweep = startTimeoutSweep({
    ...deps,
    withoutAgent: (accountId, locations) => watch.withoutAgent(accountId, locations),
  });
  teardown.push(() => sweep.stop());
  return watch;
}
