import { connect } from "node:net";

const answerWithinMs = 1000;

/** True when the Redis on this loopback port accepts the password and answers PING; also false while it loads its data. */
export const pingRedis = (port: number, password: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.setTimeout(answerWithinMs, () => socket.destroy());
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(answer === "+OK\r\n+PONG\r\n"));
    socket.on("data", (bytes) => {
      answer += bytes.toString("latin1");
      if (answer.split("\r\n").length > 2) socket.destroy();
    });
    socket.write(`AUTH ${password}\r\nPING\r\n`);
  });
