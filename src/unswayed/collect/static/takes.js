// Recordings that have not been acknowledged yet, in the browser's own database, so that they outlive the page.
const opened = () => new Promise((done, failed) => {
  const request = indexedDB.open('unswayed', 1);
  request.onupgradeneeded = () => request.result.createObjectStore('takes', { keyPath: 'take' });
  request.onsuccess = () => done(request.result);
  request.onerror = () => failed(request.error);
});

async function run(mode, act) {
  const db = await opened();
  try {
    return await new Promise((done, failed) => {
      const change = db.transaction('takes', mode), request = act(change.objectStore('takes'));
      change.oncomplete = () => done(request.result);
      change.onerror = change.onabort = () => failed(change.error);
    });
  } finally { db.close(); }
}

export const put = take => run('readwrite', store => store.put(take));
export const get = take => run('readonly', store => store.get(take));
export const of = async (box, item) => (await run('readonly', store => store.getAll()))
  .filter(one => one.box === box && one.item === item).sort((a, b) => a.at - b.at).pop();
export const drop = async (box, item) => {
  for (const one of await run('readonly', store => store.getAll())) {
    if (one.box === box && one.item === item) await run('readwrite', store => store.delete(one.take));
  }
};
