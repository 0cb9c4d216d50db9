from tests.browser import conftest
from tests.browser.conftest import *
import httpx2, pytest
LIB=Path("afterword/questionnaires/library")
@pytest.mark.parametrize("name",["after_delivery","relationship","support_case"])
async def test_lib(name, pool, monkeypatch, request):
    monkeypatch.setattr(conftest,"QUESTIONNAIRE",LIB/f"{name}.yaml")
    gen=conftest.shop.__wrapped__ if hasattr(conftest.shop,"__wrapped__") else None
    agen=gen(pool)
    shop=await agen.__anext__()
    try:
      async with async_playwright() as pw:
        b=await pw.chromium.launch(executable_path=chromium.find(),args=list(chromium.FLAGS))
        for loc in ("en","el","de","ar"):
            i=await shop.issue(locale=loc)
            pg=await b.new_page(viewport={"width":360,"height":760}); sizes={}
            async def w(r): sizes[r.url.rsplit("/",1)[1][:14]]=len(await r.body())
            pg.on("response",w)
            await pg.goto(f"{shop.url}/a/{i.instance_id}",wait_until="networkidle"); await pg.screenshot(path=f"/tmp/h6/lib-{name}-{loc}.png",full_page=True)
            print(name,loc,sum(sizes.values()),sizes)
            for n in (2,3):
                await pg.goto(f"{shop.url}/a/{i.instance_id}?page={n}"); await pg.screenshot(path=f"/tmp/h6/lib-{name}-{loc}-{n}.png",full_page=True)
            print(await pg.evaluate("document.documentElement.scrollWidth"))
        await b.close()
    finally:
        try: await agen.__anext__()
        except StopAsyncIteration: pass
