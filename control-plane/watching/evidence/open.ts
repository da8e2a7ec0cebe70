import type { Accounts } from "#control-plane/accounts/accounts.ts";
import { openBaselines, type Baselines } from "#control-plane/watching/evidence/baselines/baselines.ts";
import { readIncidentEvidence } from "#control-plane/watching/evidence/requests.ts";
import { startEvidenceWorker } from "#control-plane/watching/evidence/worker.ts";
import { exportIncidents } from "#control-plane/outages/incidents/incidents.ts";
import type { Teardown } from "#control-plane/core/teardown.ts";

/** Dependencies of the evidence about outages. */
type EvidenceDeps = Parameters<typeof startEvidenceWorker>[0] & {
  readonly accounts: Accounts;
  /** How long gatherings have to end when the replica stops, milliseconds. */
  readonly graceMs: () => number;
};

/**
 * Starts to gather the evidence about outages, which is part of the data export of an account, with its incidents. Returns
 * the last good checks, with which it is compared.
 */
export function openEvidence(deps: EvidenceDeps, teardown: Teardown): Baselines {
  const worker = startEvidenceWorker(deps);
  teardown.push(() => worker.stop(deps.graceMs()));
  const baselines = openBaselines(deps);
  teardown.push(() => baselines.stop());
  deps.accounts.addExporter("incidents", (tx, accountId) =>
    exportIncidents(tx, accountId, { now: deps.clock.now(), evidenceOf: readIncidentEvidence }),
  );
  return baselines;
}
