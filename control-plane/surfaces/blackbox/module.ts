import type { Contract } from "#shared/tools/define.ts";
import type { Source, Stage } from "#shared/outcome.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import type { Reached } from "#control-plane/checks/target.ts";
import type { Sample } from "#control-plane/surfaces/blackbox/metric-families.ts";

/** What a scrape asks for besides target and module. */
export interface ModuleQuery {
  readonly queryName: string | null;
  readonly queryType: string | null;
}

/** The tool call a scrape becomes: raw parameters, to be parsed by the contract. */
export interface ModuleCall {
  readonly params: Readonly<Record<string, string>>;
  /** What the control plane adds (contract.input). */
  readonly input?: Readonly<Record<string, unknown>>;
  /** What the job reaches besides the contract's target. */
  readonly reaches?: Reached;
}

/** How a target failed, in the words of an error answer; `reason` is snake_case. */
export interface Cause {
  /** How far the probe got: dns, connect, tls, request or response. */
  readonly stage: Stage;
  /** Whose failure it was. */
  readonly source: Source;
  readonly reason: string;
}

/** What a result comes to. */
export interface ModuleReport {
  /** Why the probe failed; null: it succeeded. A failure without a cause cannot be written down. */
  readonly failure: Cause | null;
  /** Null where the tool does not tell: the job's own duration stands in. */
  readonly seconds: number | null;
  readonly samples: readonly Sample[];
}

/** One module of the exporter: which tool runs, and how its result reads in the exporter's words. */
export interface Module {
  readonly name: string;
  readonly contract: Contract;
  /** The call, or what is wrong with the target or the query. */
  call(target: string, query: ModuleQuery): ModuleCall | FieldProblem;
  report(data: unknown): ModuleReport;
  /** The families of a probe that found nothing out, zero. */
  readonly failure: readonly Sample[];
}

/** A failure that is the target's own. */
export function targetFailure(stage: Stage, reason: string): Cause {
  return { stage, source: "target", reason };
}

/** The words for a target without a port. */
export const NO_PORT: FieldProblem = {
  field: "target",
  reason: "type",
  message: "must be host:port or [IPv6 address]:port for this module",
};
