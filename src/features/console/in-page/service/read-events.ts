import { type EventSourceMessage, EventSourceParserStream } from "eventsource-parser/stream";

/** The server-sent events in these bytes, as they come. */
export const readEvents = (bytes: ReadableStream<Uint8Array>): ReadableStream<EventSourceMessage> =>
  bytes
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream());
