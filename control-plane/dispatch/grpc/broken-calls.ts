import { ServerInterceptingCall, type ServerInterceptor } from "@grpc/grpc-js";
import type { Rejection } from "#control-plane/dispatch/hello.ts";
import type { Hub } from "#control-plane/dispatch/hub.ts";
import type { RateLimitedLog } from "#control-plane/dispatch/rate-limited-log.ts";

const NO_MESSAGE: Rejection = {
  reason: "protocol",
  message: "the message is not a valid message of the protocol",
  retry: true,
};

// Messages of grpc-js for calls that it ends by itself: a message that is too large or that cannot be decoded.
const BROKEN = /^(?:Received message|Error deserializing|Failed to decompress)/;

/** Counts and logs calls that grpc-js ends by itself, which it only reports in the status that it sends. */
export function countBrokenCalls(hub: Hub, rejections: RateLimitedLog): ServerInterceptor {
  return (_method, call) => {
    const send = call.sendStatus.bind(call);
    let isReported = false;
    call.sendStatus = (end) => {
      const detail = end.details ?? "";
      // grpc-js sends the status again for each frame that was in transit.
      if (!isReported && BROKEN.test(detail)) {
        isReported = true;
        hub.refuse(NO_MESSAGE);
        rejections.warn({ peer: call.getPeer(), reason: NO_MESSAGE.reason, detail }, "agent message refused");
      }
      send(end);
    };
    return new ServerInterceptingCall(call);
  };
}
