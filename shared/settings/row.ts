import type { Kind } from "#shared/settings/kind.ts";

/** One row of the settings table. */
export interface Setting<T> {
  /** The environment variable. */
  readonly name: string;
  /** The process that uses it; the other one accepts and ignores it. */
  readonly process: "control-plane" | "agent" | "both";
  readonly kind: Kind<T>;
  /** The text used if the variable is unset or empty; null: no default, see `absent`. */
  readonly default: string | null;
  /** The behaviour without a value, for help and docs; set only if `default` is null. */
  readonly absent?: string;
  readonly meaning: string;
  /** True: the value is never printed or logged. */
  readonly secret?: true;
}

type Rest<T> = Omit<Setting<T>, "name" | "process" | "kind">;
/** A row that always has a value. */
type Defaulted<T> = Setting<T> & { readonly default: string };
/** A row whose value is null if it is unset. */
type Plain<T> = Setting<T> & { readonly default: null };

/** The type of a row's value. */
export type ValueOf<R> = R extends Defaulted<infer T> ? T : R extends Plain<infer T> ? T | null : never;

/** Creates a function that makes the rows of one process. The value of a row without a default can be null. */
export function row(process: Setting<unknown>["process"]) {
  function make<T>(name: string, kind: Kind<T>, rest: Rest<T> & { readonly default: string }): Defaulted<T>;
  function make<T>(name: string, kind: Kind<T>, rest: Omit<Rest<T>, "default">): Plain<T>;
  function make<T>(name: string, kind: Kind<T>, rest: Partial<Rest<T>> & { readonly meaning: string }): Setting<T> {
    return { name, process, kind, default: null, ...rest };
  }
  return make;
}
