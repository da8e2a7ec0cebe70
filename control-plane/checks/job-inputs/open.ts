import { propagation } from "#shared/tools/propagation/contract.ts";
import { reverseIp } from "#shared/tools/reverse-ip/contract.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Inputs } from "#control-plane/checks/context.ts";
import type { App } from "#control-plane/core/app.ts";
import { gatherVantages } from "#control-plane/checks/job-inputs/propagation.ts";
import { gatherObservations } from "#control-plane/checks/job-inputs/reverse-ip.ts";
import { createObservations } from "#control-plane/checks/observations.ts";

/** Inputs that a replica adds to jobs. */
interface JobInputs {
  readonly inputs: Inputs;
  close(): void;
}

/** Opens the inputs that the control plane adds to jobs. Lists the tools for which it gathers an input. */
export function openJobInputs({
  sql,
  clock,
  accounts,
}: Pick<App, "sql" | "clock"> & { readonly accounts: Accounts }): JobInputs {
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
