// A traced client: calls the server, which calls back, and exports its own
// spans as the OTEL_ variables say.
//
// Usage: node client.js SERVER_URL
'use strict';

const { NodeSDK } = require('@opentelemetry/sdk-node');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');

const sdk = new NodeSDK({ instrumentations: [new HttpInstrumentation()] });
sdk.start();

const { trace } = require('@opentelemetry/api');
const http = require('node:http'); // after start: it is instrumented

// The test ends this process by closing its standard input.
process.stdin.resume();
process.stdin.on('end', () => process.exit(3));

function get(url) {
  return new Promise((resolve, reject) => {
    http.get(url, { agent: false }, (res) => {
      let body = '';
      res.on('data', (chunk) => { body += chunk; });
      res.on('end', () => resolve({ status: res.statusCode, body }));
    }).on('error', reject);
  });
}

async function main(server) {
  const back = http.createServer((req, res) => {
    trace.getTracer('client').startActiveSpan('answer', (span) => {
      span.end();
      res.end(`back from ${req.url}`);
    });
  });
  await new Promise((resolve) => { back.listen(0, '127.0.0.1', resolve); });
  const here = `http://127.0.0.1:${back.address().port}/back`;
  const answer = await trace.getTracer('client').startActiveSpan('journey', async (span) => {
    try {
      return await get(`${server}/call?url=${encodeURIComponent(here)}`);
    } finally {
      span.end();
    }
  });
  await new Promise((resolve) => { back.close(resolve); });
  await sdk.shutdown();
  console.log(JSON.stringify(answer));
}

main(process.argv[2]).then(() => process.exit(0), (err) => {
  console.error(err);
  process.exit(1);
});
