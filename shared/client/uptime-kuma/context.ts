import type { NotTaken } from "#shared/client/uptime-kuma/source.ts";

/** What the user decides about a conversion. */
export interface ConvertOptions {
  /** Secrets are written into the document; else it has references to variables of the environment. */
  readonly includeSecrets: boolean;
  /** Targets beyond the public internet are taken over, which the service checks only where its operator allows them. */
  readonly includePrivate: boolean;
  /** Shortest interval of the user's plan, minutes. */
  readonly shortestIntervalMinutes: number;
}

/** A value of the document that is a secret: the value itself, or where an apply finds it. */
export type Secret = string | { readonly env: string };

/** The conversion of one monitor: what is decided, and what is reported. */
export interface Context {
  readonly options: ConvertOptions;
  /** Reports a setting that the new monitor does not have, and why. */
  readonly leaveOut: (setting: string, why: string) => void;
  /** Reports a setting that the new monitor has otherwise. */
  readonly change: (setting: string, how: string) => void;
  /** Reports what the user has to do or know. */
  readonly remark: (text: string) => void;
  /** Returns what the document has for a secret. `hint` says what its value is, without the value. */
  readonly secret: (field: string, value: string, hint?: string) => Secret;
}

/** Fields of a monitor of the document that only some kinds have. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of a monitor, or why it has no counterpart. */
export type Mapped = { readonly ok: true; readonly fields: Fields } | NotTaken;
