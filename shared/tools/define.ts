import { Type, type Static, type TObject, type TOptional, type TProperties, type TSchema } from "typebox";
import type { FieldProblem } from "#shared/schema/problem.ts";

/** The seven scopes a key can carry. */
export const SCOPES = ["check", "dns", "ssl", "ip", "ping", "monitors", "webhook"] as const;
/** One of the seven scopes. */
export type Scope = (typeof SCOPES)[number];

/** The parts of the catalogue that an MCP client can ask for; `platform` holds questions about the caller's own records. */
export const TOOLSETS = ["web", "page", "mail", "dns", "tls", "network", "registry", "platform"] as const;
/** The name of one of those parts. */
export type Toolset = (typeof TOOLSETS)[number];

/** What an agent must be able to do to run a tool, as its hello says. */
export type Capability = "icmp4" | "icmp6" | "traceroute" | "ipv6" | "browser" | "http3";

/** A schema with a default: optional on the wire, always present for an implementation. */
export type Defaulted<T extends TSchema> = TOptional<T> & { readonly "~defaulted": true };

/** Marks a parameter as optional with a default; published as not required, with the default. */
export function withDefault<T extends TSchema>(schema: T, value: Static<T>): Defaulted<T> {
  return Type.Optional({ ...schema, default: value }) as unknown as Defaulted<T>;
}

/** The parsed parameters of a contract: defaulted fields are present, other optional ones may be absent. */
export type Params<P extends TProperties> = {
  [K in keyof P as P[K] extends { "~defaulted": true } ? K : P[K] extends TOptional<TSchema> ? never : K]: Static<P[K]>;
} & {
  [K in keyof P as P[K] extends { "~defaulted": true } ? never : P[K] extends TOptional<TSchema> ? K : never]?: Static<
    P[K]
  >;
};

/**
 * What kind of thing the target parameter names; decides how egress and normalisation look at it (shared/tools/fields.ts
 * has a schema for each). site: a host, host:port or URL of a web site; resource: a name, address or AS number that is
 * only looked up in registries.
 */
export type TargetKind = "url" | "host" | "domain" | "site" | "address" | "resource";

/** A host name and an address it was seen to have, for those who ask what else stands at an address. */
export interface Observation {
  readonly host: string;
  readonly ip: string;
}

/** Everything about a tool that any surface, the dispatcher or the docs needs to know. */
export interface Contract<P extends TProperties = TProperties, R extends TProperties = TProperties> {
  /** REST path and catalogue key. */
  readonly name: string;
  /** A short heading for catalogues and docs. */
  readonly title: string;
  /** One sentence: what the caller learns. */
  readonly summary: string;
  readonly scope: Scope;
  /** The part of the catalogue the tool belongs to. */
  readonly toolset: Exclude<Toolset, "platform">;
  readonly params: TObject<P>;
  readonly result: TObject<R>;
  /** The parameter that names what is looked at; null: the tool is given text and connects to nothing; it may look names up in the DNS. `connects` is false where the name is only looked up. */
  readonly target: {
    readonly param: keyof P & string;
    readonly kind: TargetKind;
    readonly connects: boolean;
    /** kind url: field of the result that repeats the URL as submitted, where it has another name than the parameter. */
    readonly echo?: keyof R & string;
  } | null;
  /** Rules between parameters that a schema cannot say; null: fine. Asked before anything is dispatched. */
  refine?(params: Params<P>): FieldProblem | null;
  /** What the agent should be able to do; one that is not still gets the job where no other is there, and says so. */
  needs?(params: Params<P>): readonly Capability[];
  /** What the control plane itself may add to a job, never the caller; absent: nothing. */
  readonly input?: TObject;
  /** Milliseconds the whole check may take. */
  deadlineMs(params: Params<P>): number;
  /** The keyless open tier's use of the tool, under `name` where that is another; absent where the open tier does not offer it. */
  readonly open?: {
    readonly q: keyof P & string;
    readonly extra?: readonly (keyof P & string)[];
    readonly name?: string;
  };
  /** A call that shows the tool at its best; docs and the open tier's catalogue print it. */
  readonly example: Readonly<Record<string, string | number>>;
  /** Names and addresses a result bears witness of (reverse-ip). */
  observes?(data: Static<TObject<R>>): readonly Observation[];
  /** Milliseconds a result may be served again for the same parameters and location; absent = never. */
  readonly cacheMs?: number;
  /** Several locations in one answer: what is compared, and which durations are summed up. */
  readonly across?: {
    /** Equal values mean the locations agree (`data.summary.consistent`). */
    agreeOn(data: Static<TObject<R>>): unknown;
    /** Milliseconds by name, e.g. rtt_ms; null where a location has none. */
    measure(data: Static<TObject<R>>): Readonly<Record<string, number | null>>;
  };
}

/** The parameters an implementation receives. */
export type ParamsOf<C> = C extends Contract<infer P, TProperties> ? Params<P> : never;
/** The result an implementation must return. */
export type ResultOf<C> = C extends Contract<infer _P, infer R> ? Static<TObject<R>> : never;

/** Names a contract with its exact types; does nothing at run time. */
export function defineTool<P extends TProperties, R extends TProperties>(contract: Contract<P, R>): Contract<P, R> {
  return contract;
}
