import type { Socket } from 'node:net';
import type { Request, Response } from 'express';
import type { WebSocketServer } from 'ws';
import { contextOf } from '../context.ts';
import type { MediaType } from '../negotiation.ts';
import { writeHead } from '../respond.ts';

/** Whoever writes into a sink. Either may be called while the sink is being opened. */
export interface SinkOwner {
  /** Nothing waits for the reader any more, after `waiting` was large. */
  drained(): void;
  /** The client is gone. */
  gone(): void;
}

/** Where a watch writes its events, each as the stream of its media type has it. */
export interface EventSink {
  write(bytes: Buffer): void;
  /** Bytes that wait for the reader. */
  readonly waiting: number;
  end(): void;
  /** Cuts the reader off. */
  destroy(): void;
}

/** Begins the answer of a watch. */
export type OpenSink = (owner: SinkOwner) => EventSink;

/** How a watch is answered: by a WebSocket where the client asked for one, else by a body that does not end. */
export const sinkFor = async (request: Request, response: Response, mediaType: MediaType): Promise<OpenSink> => {
  if (!isWebSocketRequest(request, response)) return (owner) => bodySink(response, mediaType, owner);
  server ??= await loadServer();
  const webSockets = server;
  return (owner) => webSocketSink(webSockets, request, response, mediaType, owner);
};

const bodySink = (response: Response, mediaType: MediaType, owner: SinkOwner): EventSink => {
  response.once('close', () => owner.gone());
  response.on('drain', () => owner.drained());
  const type = mediaType === 'application/json' ? mediaType : `${mediaType};stream=watch`;
  writeHead(response, 200, { 'content-type': type, 'cache-control': 'no-cache, private' });
  response.flushHeaders?.();
  return {
    write: (bytes) => void response.write(bytes),
    get waiting() {
      return response.writableLength;
    },
    end: () => void response.end(),
    destroy: () => void response.destroy(),
  };
};

/**
 * The code of the answer where a WebSocket is asked for in a way that the kube-apiserver takes not: without origin, or with several
 * subprotocols to choose from.
 */
export const webSocketFault = (request: Request, response: Response): number | undefined => {
  if (!isWebSocketRequest(request, response)) return undefined;
  if (!request.headers.origin) return 403;
  return String(request.headers['sec-websocket-protocol'] ?? '').includes(',') ? 400 : undefined;
};

const isWebSocketRequest = (request: Request, response: Response): boolean =>
  contextOf(response).upgradeHead !== undefined && request.headers.upgrade?.toLowerCase() === 'websocket';

/** Few ask for one: what speaks the protocol is loaded for the first of them. */
let server: WebSocketServer | undefined;

/** Whatever subprotocol is offered is taken: it says nothing of what is sent. */
const loadServer = async (): Promise<WebSocketServer> => {
  const { WebSocketServer: Server } = await import('ws');
  return new Server({ noServer: true, handleProtocols: (offered) => [...offered][0] ?? false, perMessageDeflate: false, maxPayload: 64 * 1024 });
};

/** JSON in text frames, protobuf in binary ones, an event each. */
const webSocketSink = (webSockets: WebSocketServer, request: Request, response: Response, mediaType: MediaType, owner: SinkOwner): EventSink => {
  const socket = request.socket as Socket;
  response.detachSocket?.(socket); // from here on the WebSocket writes
  let sink: EventSink | undefined;
  contextOf(response).audit?.responseCode(101);
  webSockets.handleUpgrade(request, socket, contextOf(response).upgradeHead!, (webSocket) => {
    socket.on('drain', () => owner.drained());
    webSocket.once('close', () => {
      owner.gone();
      response.emit('close'); // filters wait for it
    });
    webSocket.on('error', () => webSocket.terminate());
    const binary = mediaType !== 'application/json';
    sink = {
      write: (bytes) => webSocket.send(binary ? bytes.subarray(lengthBytes) : bytes, { binary }),
      get waiting() {
        return webSocket.bufferedAmount;
      },
      end: () => webSocket.close(),
      destroy: () => webSocket.terminate(),
    };
  });
  if (sink) return sink;
  owner.gone(); // the handshake was refused, and answered
  return { write: () => undefined, waiting: 0, end: () => undefined, destroy: () => undefined };
};

/** A frame has a length of its own. */
const lengthBytes = 4;
