import type { Clock } from "#shared/time/clock.ts";
import { propagation } from "#shared/tools/propagation.ts";
import { reverseIp } from "#shared/tools/reverse-ip.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Inputs } from "#control-plane/checks/context.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { gatherVantages } from "#control-plane/checks/job-inputs/propagation.ts";
import { gatherObservations } from "#control-plane/checks/job-inputs/reverse-ip.ts";
import { createObservations } from "#control-plane/checks/observations/observations.ts";

/** Dependencies of the inputs. */
interface JobInputsDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly accounts: Accounts;
}

/** Inputs that a replica adds to jobs. */
interface JobInputs {
  readonly inputs: Inputs;
  close(): void;
}

/** Opens the inputs that the control plane adds to jobs. Lists the tools for which it gathers an input. */
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
