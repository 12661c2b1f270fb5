"""One studio and one browser for all tests of a worker. Without chromium they are skipped, or fail where it is due."""

import os
import shutil

import pytest

from browser.watcher import Watcher

NAMES = ("chromium", "chromium-browser", "google-chrome")
SOFTWARE = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox")  # WebGL without a graphics card
INSTALL = "the studio is tested in a browser and there is none. Try: apt-get install chromium"


def browser_path():
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get("KALABA_REQUIRE_BROWSER"):
            pytest.fail(INSTALL)
        pytest.skip(INSTALL)
    return found


@pytest.fixture(scope="module")  # closed at once: a page that plays takes a core
def watcher():
    path = browser_path()
    from playwright.sync_api import sync_playwright

    import kalaba as kb

    opened = kb.studio("four-bar", port=0)
    try:
        with sync_playwright() as player:
            browser = player.chromium.launch(executable_path=path, args=SOFTWARE)
            page = browser.new_page(viewport={"width": 1000, "height": 640})
            assert opened.wait(120)
            watch = Watcher(opened, page)
            for button in page.query_selector_all(".mantine-Notification-closeButton"):
                button.click()  # "software rendering": we know
            yield watch
            browser.close()
    finally:
        opened.close()
