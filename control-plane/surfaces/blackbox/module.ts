import type { Contract } from "#shared/tools/define.ts";
import type { Source, Stage } from "#shared/contracts/outcome.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import type { ExtraDestination } from "#control-plane/checks/target.ts";
import type { Sample } from "#control-plane/surfaces/blackbox/metric-families.ts";

/** Query of a scrape besides target and module. */
export interface ModuleQuery {
  readonly queryName: string | null;
  readonly queryType: string | null;
}

/** The tool call of a scrape: raw parameters, to be parsed by the contract. */
export interface ModuleCall {
  readonly params: Readonly<Record<string, string>>;
  /** Input that the control plane adds (contract.input). */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Host the job connects to besides the contract's target. */
  readonly reaches?: ExtraDestination;
}

/** Cause of a failure, with the words of an error answer; `reason` is snake_case. */
export interface Cause {
  /** Stage that failed: dns, connect, tls, request or response. */
  readonly stage: Stage;
  /** Party that failed. */
  readonly source: Source;
  readonly reason: string;
}

/** Report of a module about a result. */
interface ModuleReport {
  /** Cause of the failure; null for a success. The type allows no failure without a cause. */
  readonly failure: Cause | null;
  /** Duration; null if the tool does not report it, and then the duration of the job is used. */
  readonly seconds: number | null;
  readonly samples: readonly Sample[];
}

/** A module of the exporter: the tool it runs and the metrics of its result. */
export interface Module {
  readonly name: string;
  readonly contract: Contract;
  /** Returns the call, or the problem of the target or the query. */
  call(target: string, query: ModuleQuery): ModuleCall | FieldProblem;
  report(data: unknown): ModuleReport;
  /** Metrics of a probe without a result, with value 0. */
  readonly failure: readonly Sample[];
}

/** Creates the cause of a failure of the target. */
export function targetFailure(stage: Stage, reason: string): Cause {
  return { stage, source: "target", reason };
}

/** Problem of a target without a port. */
export const NO_PORT: FieldProblem = {
  field: "target",
  reason: "type",
  message: "must be host:port or [IPv6 address]:port for this module",
};
