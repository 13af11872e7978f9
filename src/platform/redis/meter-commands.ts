import type { Command } from "ioredis";
import type { RedisConnection } from "./connection.ts";
import { scriptName } from "./script.ts";

/** Receives each command that has ended, with or without an answer. `operation`: the script's name, else the command's. */
export type CommandMeter = (operation: string, result: "ok" | "error", seconds: number) => void;

/** What the client sends by itself to connect. */
const unmetered = new Set(["auth", "hello", "select", "client", "info", "cluster"]);

const operationOf = ({ name, args }: Command): string | undefined => {
  if (name === "evalsha") return scriptName(String(args[0])) ?? name;
  return unmetered.has(name) || name.includes("subscribe") ? undefined : name;
};

/** Tells `meter` of the commands of a connection from now on; returns the connection. */
export const meterCommands = <T extends RedisConnection>(redis: T, meter: CommandMeter): T => {
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command: Command, ...rest: unknown[]) => {
    const operation = operationOf(command);
    if (operation !== undefined) {
      const startMs = performance.now();
      const told = (result: "ok" | "error") => () => meter(operation, result, (performance.now() - startMs) / 1000);
      command.promise.then(told("ok"), told("error"));
    }
    return send(command, ...(rest as []));
  };
  return redis;
};
