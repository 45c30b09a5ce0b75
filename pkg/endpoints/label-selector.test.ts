import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { hasCode } from '../kube/status-error.ts';
import { labelSelector } from './label-selector.ts';

const labels = { app: 'web', 'example.io/tier': 'front', empty: '', size: '7' };

describe('labelSelector', () => {
  for (const [selector, matches] of [
    ['', true],
    ['app=web', true],
    ['app==web', true],
    ['app = web , size=7', true],
    ['app=api', false],
    ['app!=api', true],
    ['missing!=x', true],
    ['app in (web,api)', true],
    ['app in (api)', false],
    ['app notin (web)', false],
    ['missing notin (web)', true],
    ['app', true],
    ['missing', false],
    ['!app', false],
    ['!missing', true],
    ['empty=', true],
    ['empty in (,x)', true],
    ['example.io/tier=front', true],
    ['size>5', true],
    ['size<5', false],
    ['app>5', false],
    ['toString', false],
    ['!constructor', true],
  ] as const) {
    it(`${JSON.stringify(selector)} ${matches ? 'matches' : 'does not match'}`, () => assert.equal(labelSelector(selector).matches(labels), matches));
  }

  for (const selector of ['=', 'a=b=c', 'a in b', 'a in (b', 'a,', ',a', 'a>x', '-a=b', 'a=-b', 'x/y/z=1', 'a b', `a=${'v'.repeat(64)}`]) {
    it(`${JSON.stringify(selector)} is a bad request`, () => assert.throws(() => labelSelector(selector), (error) => hasCode(error, 400)));
  }
});
