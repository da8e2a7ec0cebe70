import { Nullable } from "#shared/tools/fields.ts";
import { count, integer, list, number, record, text, truth, word } from "#shared/tools/shapes.ts";

const Tls = record(
  {
    version: Nullable(text("E.g. TLSv1.3; null where only the protocol's name tells of TLS")),
    cipher: Nullable(text("Cipher suite as the server names it")),
    bits: Nullable(integer("Strength of the encryption as the server says, bits")),
  },
  "TLS between the two hosts as the receiving one noted it; null: nothing is said, which does not mean there was none",
);

const Geo = record(
  {
    country: Nullable(text("ISO 3166-1 alpha-2")),
    city: Nullable(text("English name")),
    asn: Nullable(integer("Number of the autonomous system that announces the address")),
    as_name: Nullable(text("Name of its holder")),
  },
  "Where the address is thought to stand and whose network it is in, by the operator's databases; null without them, and for private addresses",
);

/** One Received field. */
const Hop = record(
  {
    n: count("Number of the hop, 1 = the oldest"),
    from: Nullable(text("What the sending host called itself (HELO or EHLO); its own word")),
    rdns: Nullable(
      text("Name the receiving host found for the sender's address; null where it found or looked for none"),
    ),
    ip: Nullable(text("Address of the sending host as the receiving one saw it")),
    ip_type: Nullable(word(["public", "private"], "public: an address of the internet; private: any other")),
    by: Nullable(text("Receiving host")),
    via: Nullable(text("Link, e.g. Frontend Transport")),
    with: Nullable(text("Protocol, e.g. ESMTPS")),
    id: Nullable(text("The receiving host's id of the message")),
    for: Nullable(text("Recipient, where it is named")),
    envelope_from: Nullable(text("Envelope sender, where the host noted it")),
    authenticated: truth("The host says that the sender logged in"),
    tls: Nullable(Tls),
    timestamp: Nullable(text("When the host received the message, ISO 8601 UTC; null: no date that can be read")),
    delay_s: Nullable(
      integer(
        "Seconds since the nearest older hop with a date; negative: the hosts' clocks disagree; null for the first",
      ),
    ),
    ip_geo: Nullable(Geo),
  },
  "One Received field",
);

/** Where delays come from, seen at a glance. */
export const TRACE_FIELDS = {
  hops: list(Hop, "Received fields, the oldest first; those below the first trusted host may be forged"),
  hop_count: count("Received fields of the message; hops is cut where they are very many"),
  total_delay_s: Nullable(
    integer("Seconds from the oldest to the newest dated hop; negative: clocks disagree; null below two"),
  ),
  arrival: record(
    {
      time: Nullable(text("ISO 8601 UTC")),
      source: word(
        ["received", "mbox", "date", "now"],
        "received: the newest hop with a date that is not in the future; mbox: the From line of an mbox file; date: the Date field; now: no date is given, so the time of this analysis is taken",
      ),
    },
    "When the message arrived; the times of its signatures and its Date are held against it",
  ),
  date_to_first_hop_s: Nullable(
    integer("Seconds from the Date field to the oldest dated hop; negative: the sender's clock is ahead"),
  ),
  slowest_hop: Nullable(integer("n of the hop with the largest delay_s above 0; null where there is none")),
  tls_pct: Nullable(number("Share of the hops between two hosts that tell of TLS, percent; null without such hops")),
  originating_ip: Nullable(
    text("Address of the oldest hop that is on the public internet; only as true as the host that wrote it down"),
  ),
};
