import { Type, type Static } from "typebox";

function milliseconds(description: string) {
  return Type.Integer({ minimum: 0, description: `${description}, ms` });
}

function microseconds(description: string) {
  return Type.Integer({ minimum: 0, description: `${description}, µs` });
}

/**
 * The time of a request by phase, whole milliseconds. dns to transfer are of the final hop; all fields except
 * redirect_count add up to elapsed_ms exactly. A phase that did not happen is 0.
 */
export const Timing = Type.Object(
  {
    dns_ms: milliseconds("Name lookup of the final hop"),
    connect_ms: milliseconds("TCP connection of the final hop, including the 1 s until a lost SYN is sent again"),
    tls_ms: milliseconds("TLS handshake of the final hop, 0 on http"),
    ttfb_ms: milliseconds("From the request sent to the first byte of the final response, ignoring 1xx responses"),
    transfer_ms: milliseconds("From the first byte to the end of the body"),
    redirect_ms: milliseconds("From the start of the request to the start of the final hop"),
    redirect_count: Type.Integer({ minimum: 0, description: "Redirects followed" }),
  },
  { description: "Time by phase; the milliseconds add up to elapsed_ms" },
);
/** Values of the Timing schema. */
export type Timing = Static<typeof Timing>;

/** The same phases in whole microseconds; they add up to elapsed_us. */
export const TimingUs = Type.Object(
  {
    dns_us: microseconds("Name lookup of the final hop"),
    connect_us: microseconds("TCP connection of the final hop, including the 1 s until a lost SYN is sent again"),
    tls_us: microseconds("TLS handshake of the final hop, 0 on http"),
    ttfb_us: microseconds("From the request sent to the first byte of the final response, ignoring 1xx responses"),
    transfer_us: microseconds("From the first byte to the end of the body"),
    redirect_us: microseconds("From the start of the request to the start of the final hop"),
    elapsed_us: microseconds("The whole chain"),
  },
  { description: "timing in microseconds; the parts add up to elapsed_us" },
);
/** Values of the TimingUs schema. */
export type TimingUs = Static<typeof TimingUs>;

/** Phases of one hop, whole milliseconds that add up to total_ms. */
export const HopTimingMs = Type.Object(
  {
    dns_ms: milliseconds("Name lookup"),
    connect_ms: milliseconds("TCP connection, including the 1 s until a lost SYN is sent again"),
    tls_ms: milliseconds("TLS handshake, 0 on http"),
    ttfb_ms: milliseconds("From the request sent to the first byte of the final response"),
    transfer_ms: milliseconds("From the first byte to the end of the body; 0 if the body was not read"),
    total_ms: milliseconds("The whole hop"),
  },
  { description: "Time of the hop by phase; the phases add up to total_ms" },
);
/** Values of the HopTimingMs schema. */
export type HopTimingMs = Static<typeof HopTimingMs>;

/** The same phases in whole microseconds. */
export const HopTimingUs = Type.Object(
  {
    dns_us: microseconds("Name lookup"),
    connect_us: microseconds("TCP connection"),
    tls_us: microseconds("TLS handshake, 0 on http"),
    ttfb_us: microseconds("From the request sent to the first byte of the final response"),
    transfer_us: microseconds("From the first byte to the end of the body; 0 if the body was not read"),
    total_us: microseconds("The whole hop"),
  },
  { description: "timing in microseconds; the phases add up to total_us" },
);
/** Values of the HopTimingUs schema. */
export type HopTimingUs = Static<typeof HopTimingUs>;
