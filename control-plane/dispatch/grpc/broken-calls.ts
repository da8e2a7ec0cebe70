import { ServerInterceptingCall, type ServerInterceptor } from "@grpc/grpc-js";
import type { Rejection } from "#control-plane/dispatch/hello.ts";
import type { Hub } from "#control-plane/dispatch/hub.ts";
import type { SparingLog } from "#control-plane/dispatch/sparing-log.ts";

const NO_MESSAGE: Rejection = {
  reason: "protocol",
  message: "the message is not a valid message of the protocol",
  retry: true,
};

// How grpc-js words what it ends a call for without asking anybody: messages too large, or none at all.
const BROKEN = /^(?:Received message|Error deserializing|Failed to decompress)/;

/** Counts and tells what ends in the wire's own hands; grpc-js says it nowhere but in the status it sends. */
export function noticeBroken(hub: Hub, rejections: SparingLog): ServerInterceptor {
  return (_method, call) => {
    const send = call.sendStatus.bind(call);
    let isTold = false;
    call.sendStatus = (end) => {
      const detail = end.details ?? "";
      // Said again for each frame that was on its way.
      if (!isTold && BROKEN.test(detail)) {
        isTold = true;
        hub.refuse(NO_MESSAGE);
        rejections.warn({ peer: call.getPeer(), reason: NO_MESSAGE.reason, detail }, "agent message refused");
      }
      send(end);
    };
    return new ServerInterceptingCall(call);
  };
}
