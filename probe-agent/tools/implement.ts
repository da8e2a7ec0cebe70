import type { Contract, ParamsOf, ResultOf } from "#shared/tools/define.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { TProperties } from "typebox";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** What the control plane adds to a job, by the contract's `input`; {} for nothing. */
export type JobInput = Readonly<Record<string, unknown>>;

/** A contract with the code that fulfils it. */
export interface Implementation<P extends TProperties = TProperties, R extends TProperties = TProperties> {
  readonly contract: Contract<P, R>;
  /** Awaited before the run, which measures its time from its own start. */
  readonly prepare?: Preparation | undefined;
  /** Runs one check. Returns failures as data; a throw is a bug and is reported as internal. */
  run(net: Net, params: ParamsOf<Contract<P, R>>, input?: JobInput): Promise<Outcome<ResultOf<Contract<P, R>>>>;
}

/** What an implementation needs before the clock of a job starts. */
type Preparation = (net: Net) => Promise<void>;

/** The implementation that a contract asks for. */
export type ImplementationOf<C> = C extends Contract<infer P, infer R> ? Implementation<P, R> : never;

/** Starts the ICMP process if it sleeps. It also sees which ICMP errors answer TCP connections. */
export const wakeIcmp: Preparation = (net) => net.icmp.ready();

/** A result that may leave its duration out: `implement` measures it. */
export type Untimed<Result> = Omit<Result, "elapsed_ms"> & { readonly elapsed_ms?: number };

/**
 * Ties an implementation to its contract; the compiler checks parameters and result. `elapsed_ms` is the duration of the
 * run in whole milliseconds, unless the implementation gives it: where it is the sum of phases.
 */
export function implement<P extends TProperties, R extends TProperties>(
  contract: Contract<P, R>,
  run: (
    net: Net,
    params: ParamsOf<Contract<P, R>>,
    input?: JobInput,
  ) => Promise<Outcome<Untimed<ResultOf<Contract<P, R>>>>>,
  prepare?: Preparation,
): Implementation<P, R> {
  return {
    contract,
    prepare,
    async run(net, params, input) {
      const startedAt = net.monotonic();
      const outcome = await run(net, params, input);
      if (outcome.status !== "ok") return outcome;
      const elapsed_ms = outcome.data.elapsed_ms ?? Math.round(net.monotonic() - startedAt);
      return { ...outcome, data: { ...outcome.data, elapsed_ms } as ResultOf<Contract<P, R>> };
    },
  };
}
