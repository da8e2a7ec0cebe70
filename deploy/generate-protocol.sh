#!/bin/sh
# Regenerates shared/protocol from proto/probe.proto. Needs protoc (Debian: protobuf-compiler).
set -e
cd "$(dirname "$0")/.."
out=${1:-shared/protocol}
mkdir -p "$out"
protoc --plugin=node_modules/.bin/protoc-gen-ts_proto --ts_proto_out="$out" \
  --ts_proto_opt=enumsAsLiterals=true,stringEnums=true,importSuffix=.ts,outputServices=grpc-js,oneof=unions-value,unrecognizedEnum=false,outputJsonMethods=false,exportCommonSymbols=false,forceLong=number \
  --proto_path=proto proto/probe.proto
