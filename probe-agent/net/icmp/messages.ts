import type { EchoReply, EchoRequest, PathMtu, TraceHop, TraceRequest } from "#probe-agent/port/packets.ts";

/** What the ICMP process can do, and why not where it cannot. */
export interface IcmpCapabilities {
  readonly v4: boolean;
  readonly v6: boolean;
  /** One line per thing that is missing, empty when all is there. */
  readonly missing: readonly string[];
}

/** A trace with the milliseconds it may take. */
export interface BoundedTrace extends TraceRequest {
  readonly budgetMs: number;
}

/** A search for the MTU of the path to an address, with the milliseconds it may take. */
export interface MtuRequest {
  readonly ip: string;
  readonly budgetMs: number;
}

/** Asks whether an ICMP error answered a TCP connection of ours that the kernel reports as failed. */
export interface RefusalRequest {
  /** The destination. */
  readonly ip: string;
  readonly port: number;
  readonly localPort: number;
}

/** An ICMP error in answer to a TCP segment. */
export interface TcpRefusal {
  readonly from: string;
  readonly type: number;
  readonly code: number;
}

/** From the agent to its ICMP process. `job` numbers are the agent's. */
export type ToChild =
  | { readonly kind: "echo"; readonly job: number; readonly request: EchoRequest }
  | { readonly kind: "trace"; readonly job: number; readonly request: BoundedTrace }
  | { readonly kind: "mtu"; readonly job: number; readonly request: MtuRequest }
  | { readonly kind: "refusal"; readonly job: number; readonly request: RefusalRequest }
  | { readonly kind: "cancel"; readonly job: number };

/** One thing that happened in a job; the last five end it. */
export type JobEvent = { readonly job: number } & (
  | { readonly kind: "reply"; readonly reply: EchoReply }
  | { readonly kind: "hop"; readonly hop: TraceHop }
  | { readonly kind: "echo_done"; readonly clockErrorMs: number }
  | { readonly kind: "trace_done"; readonly reached: boolean }
  | { readonly kind: "mtu_done"; readonly mtu: PathMtu }
  | { readonly kind: "refusal_done"; readonly refusal: TcpRefusal | null }
  | { readonly kind: "failed"; readonly reason: string; readonly message: string }
);

/** From the ICMP process: once what it can do, then events in batches, so that sending them disturbs no time stamp. */
export type FromChild =
  | { readonly kind: "ready"; readonly capabilities: IcmpCapabilities }
  | { readonly kind: "events"; readonly events: readonly JobEvent[] };
