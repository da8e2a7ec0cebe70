import type { Contract } from "#shared/tools/define.ts";
import type { Source, Stage } from "#shared/contracts/outcome.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import type { ExtraDestination } from "#control-plane/checks/target.ts";
import type { Sample } from "#control-plane/surfaces/blackbox/metric-families.ts";

/** Query of a scrape besides target and module. The modules of the operator's file use what is optional. */
export interface ModuleQuery {
  readonly queryName: string | null;
  readonly queryType: string | null;
  readonly hostname?: string | null;
  /** Time limit of the whole scrape, milliseconds; null: none. */
  readonly timeoutMs?: number | null;
}

/** The call of a scrape: raw parameters, to be parsed by the contract unless they are ours already. */
export interface ModuleCall {
  readonly params: Readonly<Record<string, unknown>>;
  readonly isParsed?: true;
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

/** What every module has. */
interface NamedModule {
  readonly name: string;
  /** What agents run. */
  readonly contract: Contract;
  /** Metrics of a probe without a result, with value 0. */
  readonly failure: readonly Sample[];
}

/** A built-in module: the tool it runs and the metrics of its result. */
export interface Module extends NamedModule {
  /** Returns the call, or the problem of the target or the query. */
  call(target: string, query: ModuleQuery): ModuleCall | FieldProblem;
  report(data: unknown): ModuleReport;
}

/** A module of the operator's file, which agents run with the exporter's probers. */
export interface FileModule extends NamedModule {
  /** Whether it is for keys of the operator's plan alone: for others it does not exist. */
  readonly isForOperator: boolean;
  /** Returns the call, or the problem of the target or the query. */
  call(target: string, query: ModuleQuery): Promise<ModuleCall | FieldProblem>;
  /** Returns the metrics of a result as text for Prometheus. */
  metrics(data: unknown): string;
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
