import { Nullable } from "#shared/tools/fields.ts";
import { count, integer, list, number, record, text, truth, word } from "#shared/tools/shapes.ts";

const Tls = record(
  {
    version: Nullable(text("E.g. TLSv1.3; null if only the name of the protocol indicates TLS")),
    cipher: Nullable(text("Cipher suite as the server names it")),
    bits: Nullable(integer("Strength of the encryption in bits, as the server states it")),
  },
  "TLS between the two hosts as the receiving host recorded it; null if it recorded none, although TLS may have been used",
);

const Geo = record(
  {
    country: Nullable(text("ISO 3166-1 alpha-2")),
    city: Nullable(text("English name")),
    asn: Nullable(integer("Number of the autonomous system that announces the address")),
    as_name: Nullable(text("Name of its holder")),
  },
  "Location and network of the address from the operator's databases; null without them and for private addresses",
);

/** One Received field. */
const Hop = record(
  {
    n: count("Number of the hop, 1 = the oldest"),
    from: Nullable(text("HELO or EHLO name of the sending host, which the receiver did not verify")),
    rdns: Nullable(
      text("Reverse name that the receiving host found for the sender's address; null if it recorded none"),
    ),
    ip: Nullable(text("Address of the sending host as the receiving host saw it")),
    ip_type: Nullable(word(["public", "private"], "public: an address of the internet; private: any other")),
    by: Nullable(text("Receiving host")),
    via: Nullable(text("Link, e.g. Frontend Transport")),
    with: Nullable(text("Protocol, e.g. ESMTPS")),
    id: Nullable(text("Id of the message at the receiving host")),
    for: Nullable(text("Recipient; null if the host recorded none")),
    envelope_from: Nullable(text("Envelope sender; null if the host recorded none")),
    authenticated: truth("The host recorded that the sender logged in"),
    tls: Nullable(Tls),
    timestamp: Nullable(
      text("Time when the host received the message, ISO 8601 UTC; null if the date is absent or cannot be parsed"),
    ),
    delay_s: Nullable(
      integer(
        "Seconds since the nearest older hop with a date; negative if the clocks of the hosts differ; null for the first hop",
      ),
    ),
    ip_geo: Nullable(Geo),
  },
  "One Received field",
);

/** Result fields on the route and the delays of a message. */
export const TRACE_FIELDS = {
  hops: list(Hop, "Received fields, oldest first; fields older than the first trusted host may be forged"),
  hop_count: count("Number of Received fields of the message; hops can be shorter"),
  total_delay_s: Nullable(
    integer(
      "Seconds from the oldest to the newest hop with a date; negative if clocks differ; null with fewer than two dates",
    ),
  ),
  arrival: record(
    {
      time: Nullable(text("ISO 8601 UTC")),
      source: word(
        ["received", "mbox", "date", "now"],
        "received: the newest hop with a date that is not in the future; mbox: the From line of an mbox file; date: the Date field; now: no date is known, so the time of this analysis is used",
      ),
    },
    "Time when the message arrived. The times of its signatures and its Date are compared with it",
  ),
  date_to_first_hop_s: Nullable(
    integer("Seconds from the Date field to the oldest hop with a date; negative if the sender's clock is ahead"),
  ),
  slowest_hop: Nullable(integer("n of the hop with the largest delay_s above 0; null if there is none")),
  tls_pct: Nullable(number("Percentage of the hops between two hosts that record TLS; null without such hops")),
  originating_ip: Nullable(
    text("Public address in the oldest hop that has one; only as reliable as the host that recorded it"),
  ),
};
