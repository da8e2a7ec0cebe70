import type { Kind } from "#shared/settings/kind.ts";

/** One row of the settings table. */
export interface Setting<T> {
  /** The environment variable. */
  readonly name: string;
  /** Who acts on it; the other process accepts and ignores it. */
  readonly process: "control-plane" | "agent" | "both";
  readonly kind: Kind<T>;
  /** The text that stands in where the variable is unset or empty; null: there is none, see `absent`. */
  readonly default: string | null;
  /** What happens without a value, for help and docs; only where `default` is null. */
  readonly absent?: string;
  readonly meaning: string;
  /** True: its value is never printed or logged. */
  readonly secret?: true;
  /** True: its value is checked, but no code of this version reads it. */
  readonly notYetUsed?: true;
}

type Rest<T> = Omit<Setting<T>, "name" | "process" | "kind">;
/** A row that always has a value. */
export type Defaulted<T> = Setting<T> & { readonly default: string };
/** A row whose value is null where it is unset. */
export type Plain<T> = Setting<T> & { readonly default: null };

/** What reading a row gives. */
export type ValueOf<R> = R extends Defaulted<infer T> ? T : R extends Plain<infer T> ? T | null : never;

/** Makes the rows of one process; whether there is a default decides whether its value can be null. */
export function row(process: Setting<unknown>["process"]) {
  function make<T>(name: string, kind: Kind<T>, rest: Rest<T> & { readonly default: string }): Defaulted<T>;
  function make<T>(name: string, kind: Kind<T>, rest: Omit<Rest<T>, "default">): Plain<T>;
  function make<T>(name: string, kind: Kind<T>, rest: Partial<Rest<T>> & { readonly meaning: string }): Setting<T> {
    return { name, process, kind, default: null, ...rest };
  }
  return make;
}
