import { Type, type Static } from "typebox";

function milliseconds(description: string) {
  return Type.Integer({ minimum: 0, description: `${description}, ms` });
}

function microseconds(description: string) {
  return Type.Integer({ minimum: 0, description: `${description}, µs` });
}

/**
 * Where the time of a request went, whole milliseconds. dns to transfer are of the final hop; all but redirect_count
 * add up to elapsed_ms exactly. A phase that did not happen took 0.
 */
export const Timing = Type.Object(
  {
    dns_ms: milliseconds("Name look-up of the final hop"),
    connect_ms: milliseconds(
      "TCP connection of the final hop, whole: a SYN that was lost and sent again after 1 s is part of it",
    ),
    tls_ms: milliseconds("TLS handshake of the final hop, 0 on http"),
    ttfb_ms: milliseconds("Request sent to first byte of the final response, 1xx left out"),
    transfer_ms: milliseconds("First byte to the end of the body"),
    redirect_ms: milliseconds("Start to start of the final hop"),
    redirect_count: Type.Integer({ minimum: 0, description: "Redirects followed" }),
  },
  { description: "Where the time went; the milliseconds add up to elapsed_ms" },
);
/** Values of the Timing schema. */
export type Timing = Static<typeof Timing>;

/** The same boundaries in whole microseconds; they add up to elapsed_us. */
export const TimingUs = Type.Object(
  {
    dns_us: microseconds("Name look-up of the final hop"),
    connect_us: microseconds(
      "TCP connection of the final hop, whole: a SYN that was lost and sent again after 1 s is part of it",
    ),
    tls_us: microseconds("TLS handshake of the final hop, 0 on http"),
    ttfb_us: microseconds("Request sent to first byte of the final response, 1xx left out"),
    transfer_us: microseconds("First byte to the end of the body"),
    redirect_us: microseconds("Start to start of the final hop"),
    elapsed_us: microseconds("The whole chain"),
  },
  { description: "timing in microseconds; the parts add up to elapsed_us" },
);
/** Values of the TimingUs schema. */
export type TimingUs = Static<typeof TimingUs>;

/** Phases of one hop, whole milliseconds that add up to total_ms. */
export const HopTimingMs = Type.Object(
  {
    dns_ms: milliseconds("Name look-up"),
    connect_ms: milliseconds("TCP connection, whole: a SYN that was lost and sent again after 1 s is part of it"),
    tls_ms: milliseconds("TLS handshake, 0 on http"),
    ttfb_ms: milliseconds("Request sent to first byte of the final response"),
    transfer_ms: milliseconds("First byte to the end of the body, 0 where it was not read"),
    total_ms: milliseconds("The whole hop"),
  },
  { description: "Where the hop's time went; the phases add up to total_ms" },
);
/** Values of the HopTimingMs schema. */
export type HopTimingMs = Static<typeof HopTimingMs>;

/** The same phases in whole microseconds. */
export const HopTimingUs = Type.Object(
  {
    dns_us: microseconds("Name look-up"),
    connect_us: microseconds("TCP connection"),
    tls_us: microseconds("TLS handshake, 0 on http"),
    ttfb_us: microseconds("Request sent to first byte of the final response"),
    transfer_us: microseconds("First byte to the end of the body, 0 where it was not read"),
    total_us: microseconds("The whole hop"),
  },
  { description: "timing in microseconds; the phases add up to total_us" },
);
/** Values of the HopTimingUs schema. */
export type HopTimingUs = Static<typeof HopTimingUs>;
