import type { Clock } from "#shared/clock.ts";
import { propagation } from "#shared/tools/propagation.ts";
import { reverseIp } from "#shared/tools/reverse-ip.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Inputs } from "#control-plane/checks/context.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import { gatherVantages } from "#control-plane/job-inputs/propagation.ts";
import { gatherObservations } from "#control-plane/job-inputs/reverse-ip.ts";
import { createObservations } from "#control-plane/observations/observations.ts";

/** What the inputs need. */
interface JobInputsDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly accounts: Accounts;
}

/** The inputs of a replica's jobs. */
interface JobInputs {
  readonly inputs: Inputs;
  close(): void;
}

/** Opens what the control plane adds to jobs: the one table of the tools whose input it gathers itself. */
export function openJobInputs({ sql, clock, accounts }: JobInputsDeps): JobInputs {
  const observations = createObservations(sql, clock);
  accounts.onErase((tx, accountId) => observations.forget(tx, accountId));
  accounts.addExporter("observations", (tx, accountId) => observations.export(tx, accountId));
  return {
    inputs: {
      observe: (accountId, seen) => observations.note(accountId, seen),
      gatherers: new Map([
        [propagation.name, gatherVantages],
        [reverseIp.name, gatherObservations(observations)],
      ]),
    },
    close: () => observations.close(),
  };
}
